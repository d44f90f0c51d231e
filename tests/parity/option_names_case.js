// parity: console
// Option names are matched without regard to case: two users of a scenario, stages of another, thresholds.
import { check } from "k6";
import exec from "k6/execution";

export const options = {
  Scenarios: {
    shared: { Executor: "shared-iterations", VUs: 2, ITERATIONS: 6, maxduration: "30s", GracefulStop: "1s" },
    // Both spellings: the one that sorts last counts.
    twice: { executor: "per-vu-iterations", vus: 1, VUS: 9, iterations: 3, starttime: "500ms", exec: "twice" },
  },
  THRESHOLDS: { checks: [{ Threshold: "rate>0.5", abortonfail: false }], iterations: ["count==9"] },
  SystemTags: ["scenario"],
  Dns: { TTL: "1s" },
};

export default function () {
  check(1, { one: (n) => n === 1 });
}

export function twice() {
  if (exec.scenario.iterationInTest === 0) {
    const { shared, twice } = exec.test.options.scenarios;
    console.log(shared.vus, shared.iterations, twice.vus, JSON.stringify(exec.vu.tags));
  }
}
