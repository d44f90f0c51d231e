// parity: console
// Scenarios that begin later, and where users are reused.
import exec from "k6/execution";

const one = { executor: "per-vu-iterations", iterations: 2 };
export const options = { scenarios: { first: one, second: { ...one, startTime: "400ms" } } };

export default function () {
  const { idInInstance, iterationInInstance, iterationInScenario } = exec.vu;
  console.log(exec.scenario.name, __ITER, idInInstance, iterationInInstance, iterationInScenario);
}
