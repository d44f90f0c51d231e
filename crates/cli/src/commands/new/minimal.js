import http from "k6/http";
import { check, sleep } from "k6";

// Where requests go: `onrush run -e TARGET=https://example.com script.js`, or `onrush run --serve script.js`, which starts a
// target beside the test.
const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

export const options = {
  vus: 10,
  duration: "30s",
  thresholds: {
    http_req_failed: ["rate<0.01"],
    http_req_duration: ["p(95)<500"],
  },
};

export default function () {
  const response = http.get(`${TARGET}/get`);
  check(response, { "status is 200": (r) => r.status === 200 });
  sleep(1);
}
