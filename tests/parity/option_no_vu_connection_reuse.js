// parity: console
// Each iteration has connections of its own.
import http from "k6/http";

export const options = { iterations: 2, noVUConnectionReuse: true };

export default function () {
  for (let i = 0; i < 2; i++) {
    console.log(http.get(`${__ENV.TARGET}/headers`).timings.connecting > 0);
  }
}
