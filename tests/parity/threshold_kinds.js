// Every aggregation of every kind.
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const counter = new Counter("a_counter");
const gauge = new Gauge("a_gauge");
const rate = new Rate("a_rate");
const trend = new Trend("a_trend");

export const options = {
  iterations: 4,
  thresholds: {
    a_counter: ["count==4", "count>=4", "count<=4", "count!=5", "count === 4", "rate>0"],
    a_gauge: ["value==3", "value<5", "value > 2.5"],
    a_rate: ["rate==0.75", "rate>0.7", "rate<=.75"],
    a_trend: ["avg==1.5", "min==0", "max==3", "med==1.5", "p(50)>=1", "p(99.99)<=3", "p(0)==0", "p(100)==3"],
  },
};

export default function () {
  counter.add(1);
  gauge.add(__ITER);
  rate.add(__ITER > 0);
  trend.add(__ITER);
}
