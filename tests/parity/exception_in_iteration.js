// An iteration that throws is logged, counted as complete, and does not fail the run.
import { check, fail } from "k6";

export const options = { iterations: 4 };

export default function () {
  check(1, { before: true });
  if (__ITER === 0) throw new Error("thrown");
  if (__ITER === 1) fail("failed");
  if (__ITER === 2) undefined.property;
  check(1, { after: true });
}
