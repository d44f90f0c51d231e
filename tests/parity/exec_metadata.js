// Metadata of samples.
import exec from "k6/execution";
import { Counter } from "k6/metrics";

const counter = new Counter("things");

export const options = { iterations: 1 };

export default function () {
  exec.vu.metrics.metadata.trace = "abc";
  counter.add(1);
  delete exec.vu.metrics.metadata.trace;
  counter.add(2);
}
