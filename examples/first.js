// A first test: ten virtual users read and write for ten seconds, while another scenario looks in once a second.
//
//   onrush serve &                    # something to test against
//   onrush run examples/first.js
//   onrush run -e TARGET=https://test.example examples/first.js
//
// It uses nothing that k6 lacks: `k6 run examples/first.js` does the same.
import { check, group, sleep } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";
const duration = __ENV.DURATION || "10s";

export const options = {
  scenarios: {
    // Ten users, each beginning its next iteration when the last has ended.
    visitors: { executor: "constant-vus", vus: 10, duration },
    // One iteration a second, however long each takes.
    watcher: {
      executor: "constant-arrival-rate",
      rate: 1,
      timeUnit: "1s",
      duration,
      preAllocatedVUs: 2,
      exec: "watch",
    },
  },
  // The test fails (exit code 99) when one of these does not hold.
  thresholds: {
    checks: ["rate>0.99"],
    http_req_failed: ["rate<0.01"],
    "http_req_duration{scenario:visitors}": ["p(95)<500"],
  },
};

export default function () {
  group("read", () => {
    const response = http.get(`${TARGET}/get?from=first`);
    check(response, {
      "status is 200": (r) => r.status === 200,
      "the query came back": (r) => r.json("args.from.0") === "first" || r.json("args.from") === "first",
    });
  });

  group("write", () => {
    const response = http.post(`${TARGET}/post`, JSON.stringify({ name: "Onrush" }), {
      headers: { "Content-Type": "application/json" },
    });
    check(response, { "the body came back": (r) => r.json().json.name === "Onrush" });
  });

  sleep(0.1);
}

export function watch() {
  const response = http.get(`${TARGET}/status/204`, { tags: { name: "watch" } });
  check(response, { "still there": (r) => r.status === 204 });
}
