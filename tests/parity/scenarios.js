// Several scenarios: functions, environment, tags, per-scenario sub-metrics.
import { check } from "k6";
import exec from "k6/execution";

export const options = {
  tags: { run: "parity" },
  scenarios: {
    shared: { executor: "shared-iterations", vus: 2, iterations: 6, tags: { colour: "red" } },
    per_vu: { executor: "per-vu-iterations", vus: 2, iterations: 2, exec: "second", env: { WHO: "second" }, startTime: "50ms" },
    rate: { executor: "constant-arrival-rate", rate: 7, timeUnit: "1s", duration: "1100ms", preAllocatedVUs: 3, exec: "third", startTime: "100ms" },
  },
  thresholds: {
    "checks{scenario:shared}": ["rate==1"],
    "checks{scenario:per_vu}": ["rate==1"],
    "checks{colour:red}": ["rate==1"],
    "iterations{scenario:shared}": ["count==6"],
    "iterations{scenario:per_vu}": ["count==4"],
    "iterations{scenario:rate}": ["count==8"],
    "iteration_duration{scenario:rate}": ["max<5000"],
    "checks{run:parity}": ["rate==1"],
  },
};

export default function () {
  check(exec.scenario, { "first": (s) => s.name === "shared" && __ENV.WHO === undefined });
}

export function second() {
  check(exec.scenario, { "second": (s) => s.name === "per_vu" && __ENV.WHO === "second" });
}

export function third() {
  check(exec.scenario, { "third": (s) => s.executor === "constant-arrival-rate" });
}
