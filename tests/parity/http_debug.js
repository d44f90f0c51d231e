// parity: args --http-debug
// parity: log
// Heads of requests in the log.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  http.get(`${__ENV.TARGET}/status/204`);
}
