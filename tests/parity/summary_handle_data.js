// parity: no-wrapper
// parity: stdout
// Keys of the data, in order.
import { check, group } from "k6";
import { Counter, Trend } from "k6/metrics";

const trend = new Trend("b_trend");
const counter = new Counter("a_counter");

export const options = { iterations: 1, thresholds: { b_trend: ["avg>0", "max<5"], "a_counter{x:1}": ["count>=0"] } };

export function setup() {
  return { z: 1, a: { y: 2, b: [3] } };
}

export default function () {
  group("g", () => check(1, { c: true }));
  trend.add(1);
  counter.add(2);
}

export function handleSummary(data) {
  const lines = [Object.keys(data).sort().join(), JSON.stringify(data.setup_data, ["a", "b", "y", "z"]), Object.keys(data.metrics).sort().join()];
  for (const name of ["a_counter", "b_trend", "a_counter{x:1}"]) {
    const { values, thresholds, ...rest } = data.metrics[name];
    lines.push(`${name} ${Object.keys(values).sort().join()} ${JSON.stringify(rest, Object.keys(rest).sort())} ${Object.keys(thresholds || {}).sort().map((source) => `${source} ${JSON.stringify(thresholds[source])}`).join()}`);
  }
  lines.push(JSON.stringify(data.root_group, ["name", "path", "id", "groups", "checks", "passes", "fails"]), Object.entries(data.options).sort().join(";"), Object.keys(data.state).sort().join());
  return { stdout: `${lines.join("\n")}\n` };
}
