// parity: console
// parity: log
// Redirects: each hop counts; methods change; limits hold.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const show = (response) => console.log(response.status, response.url.replace(__ENV.TARGET, ""), response.request.method, response.request.url.replace(__ENV.TARGET, ""), response.error);
  show(http.get(`${__ENV.TARGET}/redirect/2`));
  show(http.get(`${__ENV.TARGET}/redirect/2`, { redirects: 1 }));
  show(http.get(`${__ENV.TARGET}/redirect/1`, { redirects: 0 }));
  for (const status of [301, 302, 303, 307, 308]) {
    const response = http.post(`${__ENV.TARGET}/redirect-to?url=/anything/x&status_code=${status}`, { a: "b" });
    show(response);
    console.log(response.json("method"), response.json("data"), JSON.stringify(response.json("headers.Content-Type")));
  }
  show(http.get(`${__ENV.TARGET}/redirect-to?url=http://127.0.0.1:1/`));
  show(http.get(`${__ENV.TARGET}/redirect-to?url=`));
  show(http.get(`${__ENV.TARGET}/redirect-to?url=ftp://a.test/`));
}
