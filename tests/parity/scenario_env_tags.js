// parity: console
// Environment and tags of scenarios do not reach each other.
import exec from "k6/execution";

const one = { executor: "shared-iterations" };
export const options = {
  tags: { run: "1", over: "run" },
  scenarios: {
    a: { ...one, env: { WHO: "a", ONLY_A: "1" }, tags: { over: "a" } },
    b: { ...one, env: { WHO: "b" }, startTime: "300ms" },
  },
};

export default function () {
  console.log(exec.scenario.name, __ENV.WHO, __ENV.ONLY_A, Object.entries(exec.vu.tags).sort().join(";"));
}
