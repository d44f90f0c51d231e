// exec.test.abort in setup: exit code 108, no iteration.
import { check } from "k6";
import exec from "k6/execution";

export function setup() {
  exec.test.abort("not today");
}

export default function () {
  check(1, { never: false });
}
