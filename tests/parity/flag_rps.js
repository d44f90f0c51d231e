// parity: args --rps 50
// The limit of requests a second.
import http from "k6/http";

export const options = { iterations: 5 };

export default function () {
  http.get(`${__ENV.TARGET}/`);
}
