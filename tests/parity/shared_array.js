// parity: console
// Data that users share.
import { SharedArray } from "k6/data";

const data = new SharedArray("rows", () => [{ a: 1, deep: { list: [1, 2] } }, "text", null, 5, [1]]);
const again = new SharedArray("rows", () => {
  throw new Error("never called");
});

export const options = { iterations: 1 };

export default function () {
  console.log(data.length, again.length, data[0].deep.list[1], data[1], data[2], data[3], data[4][0], data[9], data[-1]);
  console.log(JSON.stringify(data), [...data].length, data.map((x) => typeof x).join(), data.indexOf("text"), Array.isArray(data));
  console.log(data[0] === data[0], Object.isFrozen(data[0]), Object.isFrozen(data[0].deep), "0" in data, Object.keys(data).join());
  for (const work of [() => (data[0] = 1), () => data.push(1), () => (data.length = 0), () => { "use strict"; data[0].a = 5; return data[0].a; }, () => delete data[0], () => (data.other = 1), () => data.sort()]) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  for (const index in data) console.log(index);
}
