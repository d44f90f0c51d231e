// parity: console
// A group that throws is left, and the next iteration begins outside.
import { check, group } from "k6";
import exec from "k6/execution";

export const options = { iterations: 2 };

export default function () {
  console.log(exec.vu.tags.group);
  check(1, { outside: true });
  group("outer", () => {
    group("inner", () => {
      throw new Error("out");
    });
  });
}
