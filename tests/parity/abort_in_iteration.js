// exec.test.abort: exit code 108, teardown and summary still run, nothing after it does.
import { check } from "k6";
import exec from "k6/execution";

export const options = { iterations: 5 };

export function setup() {
  return { from: "setup" };
}

export default function () {
  check(1, { before: true });
  if (__ITER === 2) {
    try {
      exec.test.abort("enough");
    } catch (error) {
      check(1, { caught: true });
    } finally {
      check(1, { finally: true });
    }
    check(1, { after: true });
  }
}

export function teardown() {
  check(1, { "teardown runs": true });
}
