// Test data: one copy in memory, read by every virtual user.
//
//   onrush serve &
//   onrush run examples/shared-data.js
import { check } from "k6";
import { SharedArray } from "k6/data";
import exec from "k6/execution";
import http from "k6/http";

const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

// The function runs once in the whole process, whatever the number of users.
const users = new SharedArray("users", () => JSON.parse(open("./users.json")));

export const options = {
  scenarios: {
    everybody_once: { executor: "shared-iterations", vus: 3, iterations: users.length },
  },
  thresholds: { checks: ["rate==1"] },
};

export default function () {
  // Each iteration has a number of its own: no user is taken twice.
  const user = users[exec.scenario.iterationInTest];
  exec.vu.tags.role = user.role;
  const response = http.get(`${TARGET}/basic-auth/${user.name}/${user.password}`, {
    headers: { Authorization: `Basic ${user.token}` },
  });
  check(response, { "may enter": (r) => r.status === 200 });
}
