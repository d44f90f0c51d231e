// onrush/payload: sizes, ranges and refusals. What is sent is looked at in the tests of the binary.
import { check } from "k6";
import payload, { random, repeat } from "onrush/payload";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const least = "expected a whole number from 0 to 2^53 - 1";

export default function () {
  const ten = repeat("abc", 10);
  check(null, {
    "named and default": () => payload.repeat === repeat && payload.random === random,
    "sizes": () => ten.size === 10 && random(1e10).size === 1e10 && repeat(new Uint8Array(3), 0).size === 0,
    "sizes stay": () => thrown(() => (ten.size = 5)).startsWith("TypeError") && ten.size === 10,
    "slices": () => ten.slice(2).size === 8 && ten.slice(2, 5).size === 3 && ten.slice(3, 3).size === 0,
    "slices of slices": () => random(100).slice(10).slice(5, 20).size === 15,
    "start is no position": () =>
      thrown(() => ten.slice(-1)) === "RangeError: slice: start is -1, expected a whole number from 0 to 10",
    "end is behind the end": () =>
      thrown(() => ten.slice(4, 11)) === "RangeError: slice: end is 11, expected a whole number from 4 to 10",
    "end is before start": () =>
      thrown(() => ten.slice(4, 3)) === "RangeError: slice: end is 3, expected a whole number from 4 to 10",
    "no number": () => thrown(() => ten.slice("1")).startsWith("RangeError: slice: start is string"),
    "slice of something else": () => thrown(() => ten.slice.call({})).startsWith("TypeError: slice belongs to a payload"),
    "no total": () => thrown(() => random()) === `RangeError: random: the total is undefined, ${least}`,
    "a negative total": () => thrown(() => repeat("a", -1)) === `RangeError: repeat: the total is -1, ${least}`,
    "half a byte": () => thrown(() => random(0.5)) === `RangeError: random: the total is 0.5, ${least}`,
    "more than a number holds": () => thrown(() => random(2 ** 60)).startsWith("RangeError: random: the total is "),
    "a bad seed": () => thrown(() => random(1, -1)) === `RangeError: random: the seed is -1, ${least}`,
    "no pattern": () =>
      thrown(() => repeat(5, 1)) ===
      "TypeError: repeat: the pattern is 5, expected a string, an ArrayBuffer or a view of one",
    "an empty pattern": () =>
      thrown(() => repeat("", 1)) === "RangeError: repeat: the pattern is empty, expected at least one byte",
  });
}
