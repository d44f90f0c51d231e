// parity: no-wrapper
// parity: console
// What handleSummary sees of the test.
import exec from "k6/execution";
import http from "k6/http";

export const options = { iterations: 1 };

let count = 0;

export default function () {
  count += 1;
}

export function handleSummary() {
  console.log(__VU, typeof __ITER, count, typeof data);
  for (const work of [() => exec.scenario.name, () => exec.vu.idInTest, () => exec.instance.iterationsCompleted, () => http.get("http://127.0.0.1:1/").status, () => exec.test.options.iterations]) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  return {};
}
