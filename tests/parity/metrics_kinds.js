// The four kinds of metrics, with times and without, and values of all kinds.
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const counter = new Counter("my_counter");
const gauge = new Gauge("my_gauge");
const rate = new Rate("my_rate");
const trend = new Trend("my_trend");
const time = new Trend("my_time", true);
new Gauge("my_unused");

export const options = {
  iterations: 3,
  thresholds: {
    my_counter: ["count==7.5"],
    my_gauge: ["value==2"],
    my_rate: ["rate>0.6", "rate<0.7"],
    my_trend: ["avg==2", "med==2", "min==1", "max==3"],
    "my_counter{which:tagged}": ["count==3"],
    my_unused: ["value==0"],
  },
};

export default function () {
  counter.add(1.5);
  counter.add(true, { which: "tagged" });
  gauge.add(__ITER);
  rate.add(__ITER);
  trend.add(__ITER + 1);
  time.add(10);
}
