// parity: console
// Requests that take too long.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const [path, timeout] of [["/delay/2", 100], ["/delay/2", "100ms"], ["/fault/stall", "50ms"], ["/drip?numbytes=5&duration=2s", "200ms"]]) {
    const response = http.get(`${__ENV.TARGET}${path}`, { timeout });
    console.log(path, response.status, response.error_code, response.error, response.body);
  }
}
