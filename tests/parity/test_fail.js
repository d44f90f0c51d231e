// exec.test.fail: the run goes on, exit code 110.
import { check } from "k6";
import exec from "k6/execution";

export const options = { iterations: 3 };

export default function () {
  exec.test.fail("marked");
  check(1, { "goes on": true });
}
