// Samples of setup and teardown.
import { Counter } from "k6/metrics";

const counter = new Counter("things");

export const options = { iterations: 1 };

export function setup() {
  counter.add(1, { where: "setup" });
}

export default function () {
  counter.add(2, { where: "iteration" });
}

export function teardown() {
  counter.add(4, { where: "teardown" });
}
