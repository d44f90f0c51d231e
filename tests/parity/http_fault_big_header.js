// parity: console
// Heads that are large.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const kb of [64, 512]) {
    const response = http.get(`${__ENV.TARGET}/fault/big-header?kb=${kb}`);
    console.log(kb, response.status, response.error_code, response.error);
  }
}
