// parity: console
// Tags of samples.
import { Counter } from "k6/metrics";

const counter = new Counter("things");

export const options = { iterations: 1 };

export default function () {
  for (const tags of [{ a: "b" }, { a: 1, b: true }, {}, null, undefined, { a: { b: 1 } }, { a: null }, "text", 5, [1], { url: "own", status: "5" }, { "": "x" }]) {
    try {
      counter.add(1, tags);
      console.log("taken", JSON.stringify(tags));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
