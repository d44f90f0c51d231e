// parity: args --discard-response-bodies
// parity: console
// Bodies are dropped unless a request asks for them.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  console.log(http.get(`${__ENV.TARGET}/`).body);
  console.log(http.get(`${__ENV.TARGET}/`, { responseType: "text" }).body);
  console.log(http.get(`${__ENV.TARGET}/`, { responseType: "binary" }).body.byteLength);
}
