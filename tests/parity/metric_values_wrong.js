// parity: console
// parity: log
// Values that metrics refuse.
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const metrics = { counter: new Counter("a_counter"), gauge: new Gauge("a_gauge"), rate: new Rate("a_rate"), trend: new Trend("a_trend") };

export const options = { iterations: 1 };

export default function () {
  for (const [name, metric] of Object.entries(metrics)) {
    for (const value of [1, "2", "text", null, undefined, NaN, -1, true, {}, [3]]) {
      try {
        console.log(name, String(value), metric.add(value));
      } catch (error) {
        console.log(name, String(value), error.name, error.message);
      }
    }
  }
}
