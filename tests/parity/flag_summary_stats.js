// parity: args --summary-trend-stats min,p(12.5),count --summary-time-unit us
// Statistics of trends by a flag.
import { Trend } from "k6/metrics";

const trend = new Trend("numbers");

export const options = { iterations: 3, summaryTrendStats: ["max"] };

export default function () {
  trend.add(__ITER);
}
