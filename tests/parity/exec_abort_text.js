// parity: log
// A test that ends itself with a reason; teardown runs.
import exec from "k6/execution";

export const options = { iterations: 5 };

export default function () {
  exec.test.abort("enough is enough");
}

export function teardown() {
  console.log("teardown");
}
