// parity: no-counts
// Stages as a shortcut.
import exec from "k6/execution";
import { sleep } from "k6";

export const options = { stages: [{ duration: "200ms", target: 2 }, { duration: "200ms", target: 2 }, { duration: "100ms", target: 0 }] };

export default function () {
  exec.vu.metrics.tags.executor = exec.scenario.executor;
  sleep(0.05);
}
