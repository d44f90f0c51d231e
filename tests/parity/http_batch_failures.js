// parity: console
// A batch of which some fail.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const responses = http.batch([`${__ENV.TARGET}/`, "http://127.0.0.1:1/", `${__ENV.TARGET}/status/500`]);
  console.log(responses.map((r) => `${r.status} ${r.error_code} ${r.error}`).join("; "));
  try {
    http.batch([["GET", "http://127.0.0.1:1/", null, { throw: true }], `${__ENV.TARGET}/`]);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
