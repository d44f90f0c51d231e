// parity: console
// exec.test.options: names, order, and null for what was left out.
import { sleep } from "k6";
import exec from "k6/execution";

const stages = [{ duration: "1s", target: 1 }];
export const options = {
  tags: { a: "b" },
  dns: { ttl: "1s" },
  systemTags: ["url", "name"],
  userAgent: "x",
  setupTimeout: "5s",
  thresholds: { http_reqs: [{ threshold: "count>=0", abortOnFail: true, delayAbortEval: "1s" }] },
  scenarios: {
    z: { executor: "per-vu-iterations", vus: 1, iterations: 1, maxDuration: "2s" },
    c: { executor: "constant-arrival-rate", rate: 1, duration: "1s", preAllocatedVUs: 1, exec: "other", startTime: "100ms" },
    r: { executor: "ramping-arrival-rate", startRate: 1, preAllocatedVUs: 1, maxVUs: 2, stages, gracefulStop: "1s", exec: "other" },
    v: { executor: "ramping-vus", startVUs: 1, stages, gracefulRampDown: "1s", exec: "slow", tags: { own: "1" }, env: { K: "v" } },
  },
};

export default function () {
  console.log(JSON.stringify(exec.test.options));
}

export function other() {}

export function slow() {
  sleep(4);
}
