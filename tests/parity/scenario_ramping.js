// parity: no-counts
// Users that come and go.
import { sleep } from "k6";

export const options = {
  scenarios: {
    ramp: {
      executor: "ramping-vus",
      startVUs: 1,
      stages: [{ duration: "300ms", target: 2 }, { duration: "0s", target: 1 }, { duration: "300ms", target: 0 }],
      gracefulRampDown: "0s",
    },
  },
  thresholds: { iterations: ["count>4"] },
};

export default function () {
  sleep(0.05);
}
