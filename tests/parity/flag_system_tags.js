// parity: args --system-tags url,method,vu,iter
// System tags by a flag; vu and iter are data of their own.
import http from "k6/http";

export const options = { iterations: 2 };

export default function () {
  http.get(`${__ENV.TARGET}/status/204`);
}
