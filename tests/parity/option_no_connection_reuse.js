// parity: console
// Each request has a connection of its own.
import http from "k6/http";

export const options = { iterations: 2, noConnectionReuse: true };

export default function () {
  for (let i = 0; i < 2; i++) {
    console.log(http.get(`${__ENV.TARGET}/headers`).timings.connecting > 0, http.get(`${__ENV.TARGET}/headers`).json("headers.Connection"));
  }
}
