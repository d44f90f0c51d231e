// parity: console
// A check that throws is counted as failed, and the iteration ends.
import { check } from "k6";

export const options = { iterations: 2 };

export default function () {
  check(1, {
    before: true,
    throwing: () => {
      throw new TypeError("in a check");
    },
    after: true,
  });
  console.log("never");
}
