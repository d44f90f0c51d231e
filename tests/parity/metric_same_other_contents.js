// parity: console
// The same name with times and without.
import { Trend } from "k6/metrics";

new Trend("a_trend", true);
if (__VU === 0) {
  for (const isTime of [false, undefined, true]) {
    try {
      new Trend("a_trend", isTime);
      console.log("taken");
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}

export default function () {}
