// Tags that an iteration sets are there in its own samples alone.
import exec from "k6/execution";
import { Counter } from "k6/metrics";

const counter = new Counter("things");

export const options = { iterations: 2, tags: { run: "1" } };

export default function () {
  counter.add(1);
  exec.vu.metrics.tags.mine = `of ${__ITER}`;
  counter.add(1);
}
