// parity: console
// What a group gives back, and what it refuses.
import { group } from "k6";

export const options = { iterations: 1 };

const tried = (work) => {
  try {
    console.log(work());
  } catch (error) {
    console.log(error.name, error.message);
  }
};

export default function () {
  tried(() => group("value", () => 5));
  tried(() => group("nothing", () => {}));
  tried(() => group("a::b", () => 1));
  tried(() => group("", () => 2));
  tried(() => group("async", async () => 1));
  tried(() => group("no function", 5));
  tried(() => group("no function"));
  tried(() => group(undefined, () => 3));
  tried(() => group(7, () => 4));
}
