// parity: args --execution-segment 0:1/2 --execution-segment-sequence 0,1/2,1
// parity: console
// Half of the work, as one of two.
import exec from "k6/execution";

export const options = { vus: 2, iterations: 8 };

export default function () {
  console.log(exec.vu.idInInstance, exec.vu.idInTest, exec.scenario.iterationInInstance, exec.scenario.iterationInTest);
}
