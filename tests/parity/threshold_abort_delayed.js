// A threshold that would end the test, but only later.
import { Counter } from "k6/metrics";

const counter = new Counter("bad");

export const options = {
  iterations: 3,
  thresholds: { bad: [{ threshold: "count<1", abortOnFail: true, delayAbortEval: "10s" }] },
};

export default function () {
  counter.add(1);
}
