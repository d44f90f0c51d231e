// parity: console
// What fail throws.
import { fail } from "k6";

export const options = { iterations: 2 };

export default function () {
  for (const value of [["text"], [], [5], [{ a: 1 }], [null]]) {
    try {
      fail(...value);
    } catch (error) {
      console.log(typeof error, error.name, error.message, String(error));
    }
  }
  fail("the end");
}
