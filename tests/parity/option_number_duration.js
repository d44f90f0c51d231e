// Durations as numbers are milliseconds.
import exec from "k6/execution";
import { check } from "k6";

export const options = { scenarios: { a: { executor: "per-vu-iterations", maxDuration: 2500, gracefulStop: 0, startTime: 10 } } };

export default function () {
  check(exec.test.options.scenarios.a, { "in words": (s) => s.maxDuration === "2.5s" && s.gracefulStop === "0s" && s.startTime === "10ms" });
}
