// parity: env K6_DURATION=300ms
// parity: env K6_VUS=1
// parity: no-counts
// A duration by the environment.
import { sleep } from "k6";

export default function () {
  sleep(0.1);
}
