// parity: env NO_PROXY=none.test
// parity: env HTTP_PROXY=http://127.0.0.1:1
// parity: console
// A proxy that nobody runs; loopback goes without.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  console.log(http.get(`${__ENV.TARGET}/`).status);
  const response = http.get("http://some.test/");
  console.log(response.status, response.error_code, response.error);
}
