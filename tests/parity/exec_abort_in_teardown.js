// parity: console
// A test that ends itself in teardown.
import exec from "k6/execution";

export const options = { iterations: 1 };

export default function () {}

export function teardown() {
  console.log("before");
  exec.test.abort("in teardown");
}
