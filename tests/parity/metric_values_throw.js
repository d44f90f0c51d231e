// parity: console
// The same with the option throw.
import { Counter, Rate } from "k6/metrics";

const counter = new Counter("a_counter");
const rate = new Rate("a_rate");

export const options = { iterations: 1, throw: true };

export default function () {
  for (const value of ["text", null, undefined, NaN, {}]) {
    for (const metric of [counter, rate]) {
      try {
        console.log(metric.add(value));
      } catch (error) {
        console.log(error.name, error.message);
      }
    }
  }
}
