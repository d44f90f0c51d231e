// An open model: requests start on schedule, whether or not earlier ones were answered, as visitors do.
//
//   onrush serve &
//   onrush run examples/arrival-rate.js
//
// Look at `iteration_lag` in the summary (Onrush only): how late iterations began. Near zero means that the machine kept
// the schedule and the latencies can be trusted. `dropped_iterations` counts starts for which no user was free.
import { check } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

export const options = {
  discardResponseBodies: true,
  scenarios: {
    ramp: {
      executor: "ramping-arrival-rate",
      startRate: 50,
      timeUnit: "1s",
      stages: [
        { target: 500, duration: "5s" }, // up
        { target: 500, duration: "5s" }, // hold
        { target: 0, duration: "2s" }, // down
      ],
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
  },
  thresholds: {
    http_req_duration: ["p(99)<200", { threshold: "p(99)<2000", abortOnFail: true, delayAbortEval: "2s" }],
    dropped_iterations: ["count==0"],
  },
};

export default function () {
  check(http.get(`${TARGET}/`), { "status is 200": (r) => r.status === 200 });
}
