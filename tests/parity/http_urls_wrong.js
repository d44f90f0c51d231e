// parity: console
// Addresses that are none.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const url of ["", "text", "http://", "http:///path", "ftp://a.test/", "http://[::1", "http://a b/", "http://127.0.0.1:99999/", "//a.test", 5, null, undefined, {}, "http://%zz/"]) {
    try {
      const response = http.get(url);
      console.log(String(url), response.status, response.error_code, response.error, JSON.stringify(response.body), response.url);
    } catch (error) {
      console.log(String(url), error.name, error.message);
    }
  }
}
