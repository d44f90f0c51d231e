// parity: console
// What exec says of the instance.
import exec from "k6/execution";

export const options = { vus: 1, iterations: 3 };

export default function () {
  const { iterationsCompleted, iterationsInterrupted, vusActive, vusInitialized, currentTestRunDuration } = exec.instance;
  console.log(iterationsCompleted, iterationsInterrupted, vusActive, vusInitialized, currentTestRunDuration > 0);
}
