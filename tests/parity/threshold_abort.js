// parity: log
// A threshold that ends the test.
import { sleep } from "k6";
import { Counter } from "k6/metrics";

const counter = new Counter("bad");

export const options = {
  vus: 1,
  duration: "20s",
  thresholds: { bad: [{ threshold: "count<1", abortOnFail: true }], "iterations{scenario:default}": ["count>1000"] },
};

export default function () {
  counter.add(1);
  sleep(30);
}

export function teardown() {}
