// Each user has its number of iterations.
import exec from "k6/execution";
import { Counter } from "k6/metrics";

const done = new Counter("done");

export const options = {
  scenarios: { each: { executor: "per-vu-iterations", vus: 3, iterations: 4, maxDuration: "10s", tags: { of: "each" } } },
  thresholds: { "iterations{scenario:each}": ["count==12"], "done{of:each}": ["count==12"], "done{of:other}": ["count==0"] },
};

export default function () {
  done.add(1);
  if (exec.vu.iterationInScenario > 3) throw new Error("too many");
}
