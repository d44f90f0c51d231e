// parity: console
// A test that is marked as failed goes on.
import exec from "k6/execution";

export const options = { iterations: 2 };

export default function () {
  exec.test.fail("marked");
  console.log("goes on", __ITER);
}
