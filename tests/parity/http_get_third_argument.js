// parity: log
// A third argument of get() is warned of.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  http.get(`${__ENV.TARGET}/`, {}, "third");
  http.head(`${__ENV.TARGET}/`, {}, "third");
}
