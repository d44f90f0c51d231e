// parity: console
// Names and values of headers that come.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const { headers } = http.get(`${__ENV.TARGET}/response-headers?x-one=1&X-TWO=2&x-one=3&etag=abc&x_under=4&www-authenticate=5`);
  for (const name of Object.keys(headers).filter((name) => !["Date", "Server", "Connection"].includes(name)).sort()) {
    console.log(name, headers[name]);
  }
}
