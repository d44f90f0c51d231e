// parity: console
// A certificate of nobody that is known.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const response = http.get(`${__ENV.TARGET_TLS}/`);
  console.log(response.status, response.error_code, response.error);
  const plain = http.get(__ENV.TARGET.replace("http:", "https:"));
  console.log(plain.status, plain.error_code, plain.error);
  const other = http.get(__ENV.TARGET_TLS.replace("https:", "http:"));
  console.log(other.status, other.error_code, other.error);
}
