// parity: console
// How far a scenario is.
import exec from "k6/execution";

export const options = { scenarios: { a: { executor: "shared-iterations", iterations: 4 } } };

export default function () {
  const { progress, iterationInTest, iterationInInstance, executor, startTime } = exec.scenario;
  console.log(progress, iterationInTest, iterationInInstance, executor, Date.now() - startTime < 1000);
}
