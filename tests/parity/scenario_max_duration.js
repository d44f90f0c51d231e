// parity: log
// What the longest duration leaves undone is dropped.
import { sleep } from "k6";

export const options = {
  scenarios: {
    shared: { executor: "shared-iterations", iterations: 5, maxDuration: "1s", gracefulStop: "0s" },
    each: { executor: "per-vu-iterations", iterations: 5, maxDuration: "1s", gracefulStop: "0s" },
  },
};

export default function () {
  sleep(0.7);
}
