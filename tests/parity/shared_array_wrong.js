// parity: console
// What SharedArray refuses.
import { SharedArray } from "k6/data";

if (__VU === 0) {
  for (const args of [[], ["a"], ["b", 5], ["", () => []], ["c", () => ({})], ["d", () => "text"], ["e", () => undefined], ["f", async () => []], [5, () => [1]], ["h", () => { throw new Error("inner"); }]]) {
    try {
      console.log(JSON.stringify(new SharedArray(...args)));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}

export default function () {
  try {
    new SharedArray("late", () => []);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
