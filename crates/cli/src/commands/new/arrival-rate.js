import http from "k6/http";
import { check } from "k6";

// Where requests go: `onrush run -e TARGET=https://example.com script.js`, or `onrush run --serve script.js`.
const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

// Iterations begin at a rate, however long they take: a slow server does not slow the test down.
export const options = {
  scenarios: {
    steady: {
      executor: "constant-arrival-rate",
      rate: 100,
      timeUnit: "1s",
      duration: "30s",
      preAllocatedVUs: 20,
      maxVUs: 200,
    },
  },
  thresholds: {
    http_req_failed: ["rate<0.01"],
    dropped_iterations: ["count==0"],
    http_req_duration: ["p(99)<500"],
  },
};

export default function () {
  const response = http.get(`${TARGET}/get`);
  check(response, { "status is 200": (r) => r.status === 200 });
}
