import http from "k6/http";
import { check, fail, group, sleep } from "k6";

// Where requests go: `onrush run -e TARGET=https://example.com script.js`, or `onrush run --serve script.js`.
const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

export const options = {
  scenarios: {
    session: {
      executor: "ramping-vus",
      stages: [
        { duration: "10s", target: 10 },
        { duration: "30s", target: 10 },
        { duration: "5s", target: 0 },
      ],
    },
  },
  thresholds: {
    checks: ["rate>0.99"],
    "http_req_duration{name:read}": ["p(95)<300"],
    "http_req_duration{name:write}": ["p(95)<500"],
  },
};

// Runs once, before the first virtual user; what it returns goes to every one of them.
export function setup() {
  const response = http.get(`${TARGET}/get`);
  if (response.status !== 200) fail(`the target answers ${response.status}: ${response.error}`);
  return { token: "a token, from a login perhaps" };
}

export default function (data) {
  const headers = { Authorization: `Bearer ${data.token}`, "Content-Type": "application/json" };

  group("write, then read", () => {
    const item = JSON.stringify({ title: `from virtual user ${__VU}` });
    const written = http.post(`${TARGET}/post`, item, { headers, tags: { name: "write" } });
    check(written, {
      "it was taken": (r) => r.status === 200,
      "it is what was sent": (r) => r.json("json.title").startsWith("from"),
    });

    const read = http.get(`${TARGET}/get?item=1`, { headers, tags: { name: "read" } });
    check(read, { "it can be read": (r) => r.status === 200 });
  });
  sleep(Math.random() * 2);
}

export function teardown() {
  // What setup() made goes away here.
}
