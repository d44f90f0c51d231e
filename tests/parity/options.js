// Options of several kinds; system tags reduced; trend statistics chosen.
import { check } from "k6";
import exec from "k6/execution";
import { Trend } from "k6/metrics";

const trend = new Trend("numbers");

export const options = {
  vus: 2,
  iterations: 10,
  summaryTrendStats: ["avg", "p(50)", "p(99.9)", "count", "max", "min"],
  summaryTimeUnit: "ms",
  systemTags: ["check", "scenario"],
  thresholds: { "checks{scenario:default}": ["rate==1"], numbers: ["count>0"] },
};
options.thresholds.numbers = ["max==9"];

export default function () {
  trend.add(exec.scenario.iterationInTest);
  check(exec.test.options, {
    "the shortcut became a scenario": (o) => o.scenarios.default.executor === "shared-iterations",
    "statistics": (o) => o.summaryTrendStats.length === 6,
    "only the tags asked for": () => JSON.stringify(exec.vu.tags) === '{"scenario":"default"}',
  });
}
