// parity: console
// Headers of requests: values of other types, Host, repeated names.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const headers = { "X-Number": 5, "x-lower": "a", "X-Bool": true, "X-Empty": "", Host: "other.test", "Content-Type": "text/x" };
  const response = http.post(`${__ENV.TARGET}/post`, "body", { headers });
  const seen = response.json("headers");
  for (const name of ["X-Number", "X-Lower", "X-Bool", "X-Empty", "Host", "Content-Type", "Accept-Encoding"]) {
    console.log(name, JSON.stringify(seen[name]));
  }
  console.log(Object.keys(response.request.headers).sort().join(), response.request.headers["X-Number"][0], response.request.method, response.request.url === response.url);
}
