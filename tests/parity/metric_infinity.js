// Values beyond all numbers.
import { Counter } from "k6/metrics";

const counter = new Counter("a_counter");

export const options = { iterations: 1 };

export default function () {
  counter.add(Infinity);
}
