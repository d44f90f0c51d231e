// parity: args --max-redirects 1
// parity: log
// Redirects beyond the limit of a flag.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  http.get(`${__ENV.TARGET}/redirect/3`);
  http.get(`${__ENV.TARGET}/redirect/3`, { redirects: 2 });
}
