// parity: log
// parity: no-counts
// Iterations that find no user are dropped.
import { sleep } from "k6";

export const options = {
  scenarios: { a: { executor: "constant-arrival-rate", rate: 20, duration: "1s", preAllocatedVUs: 1 } },
  thresholds: { dropped_iterations: ["count>5"] },
};

export default function () {
  sleep(0.5);
}
