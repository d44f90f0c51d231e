// parity: console
// Servers that break off.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const fault of ["reset", "partial", "garbage", "bad-chunk", "no-response"]) {
    const response = http.get(`${__ENV.TARGET}/fault/${fault}`);
    console.log(fault, response.status, response.error_code, response.error.replace(/127.0.0.1:\d+/g, "HOST"), response.body);
  }
}
