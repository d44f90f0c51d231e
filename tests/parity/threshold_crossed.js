// Exit code 99, and which thresholds the summary calls crossed.
import { check } from "k6";
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const counter = new Counter("a_counter");
const gauge = new Gauge("a_gauge");
const rate = new Rate("a_rate");
const trend = new Trend("a_trend");
const unused = new Trend("unused");

export const options = {
  iterations: 10,
  thresholds: {
    a_counter: ["count>50", "count<5", "rate>0"],
    "a_counter{kind:odd}": ["count==25"],
    "a_counter{kind:none}": ["count==0"],
    a_gauge: ["value==9", "value<3"],
    a_rate: ["rate>=0.5", "rate<0.1"],
    a_trend: ["avg<5", "med<=4.5", "p(90)<8.2", "p(99.9)<9", "min==0", "max!=9"],
    unused: ["avg<1"],
    iterations: ["count==10"],
  },
};

export default function () {
  counter.add(__ITER, { kind: __ITER % 2 ? "odd" : "even" });
  gauge.add(__ITER);
  rate.add(__ITER % 2);
  trend.add(__ITER);
}
