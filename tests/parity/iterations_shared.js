// Users share the iterations; numbers of iterations in the test and in the scenario.
import { check } from "k6";
import exec from "k6/execution";

export const options = { vus: 3, iterations: 10 };

export default function () {
  check(exec, {
    "number in the test": (e) => e.scenario.iterationInTest >= 0 && e.scenario.iterationInTest < 10,
    "number of the user": (e) => e.vu.iterationInScenario === __ITER && e.vu.idInTest === __VU,
    "name and kind": (e) => e.scenario.name === "default" && e.scenario.executor === "shared-iterations",
    "progress": (e) => e.scenario.progress >= 0 && e.scenario.progress <= 1,
  });
}
