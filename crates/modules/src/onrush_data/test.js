// onrush/data: each row once, and refusals.
import { check } from "k6";
import { SharedArray } from "k6/data";
import { uniqueRows } from "onrush/data";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const array = new SharedArray("letters", () => [{ a: 1 }, { a: 2 }, { a: 3 }]);
const rows = uniqueRows("letters", array);
const again = uniqueRows("letters", array);
const plain = uniqueRows("plain", ["x"]);
const early = thrown(() => rows.take());

export default function () {
  const taken = [rows.take(), again.take()];
  check(null, {
    "each row once, whichever way": () => JSON.stringify(taken) === '[{"a":1},{"a":2}]' && rows.left() === 1,
    "then there are none": () => again.take().a === 3 && rows.take() === undefined && again.left() === 0,
    "of an array of the user's own": () => plain.take() === "x" && plain.take() === undefined,
    "not in init code": () => early.startsWith("TypeError: take: rows are given in iterations alone"),
    "a name has one number of rows": () =>
      thrown(() => uniqueRows("letters", ["y"])) ===
      "RangeError: uniqueRows: 'letters' has 3 rows elsewhere, found 1: give each its own name",
    "a name is needed": () => thrown(() => uniqueRows("", array)).startsWith("TypeError: uniqueRows: the first argument"),
    "an array is needed": () => thrown(() => uniqueRows("none", 7)).startsWith("TypeError: uniqueRows: the second argument"),
    "methods of others are refused": () => thrown(() => rows.take.call({})).includes("what uniqueRows returns"),
  });
}
