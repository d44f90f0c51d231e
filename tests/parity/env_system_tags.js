// parity: env K6_SYSTEM_TAGS=status,group
// System tags by the environment.
import http from "k6/http";

export default function () {
  http.get(`${__ENV.TARGET}/status/404`);
}
