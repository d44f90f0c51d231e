// parity: console
// The option throw, and the param that turns it off.
import http from "k6/http";

export const options = { iterations: 1, throw: true };

export default function () {
  console.log(http.get("http://127.0.0.1:1/", { throw: false }).error_code);
  try {
    http.get("not a url");
  } catch (error) {
    console.log(String(error));
  }
  try {
    http.batch(["http://127.0.0.1:1/"]);
  } catch (error) {
    console.log(String(error));
  }
  http.get(`${__ENV.TARGET}/status/500`);
  http.get("http://127.0.0.1:1/");
}
