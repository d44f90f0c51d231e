// parity: console
// Random numbers that are the same each time.
import { randomSeed } from "k6";

export const options = { iterations: 2 };

export default function () {
  randomSeed(42);
  const first = [Math.random(), Math.random()];
  randomSeed(42);
  console.log(first[0] === Math.random(), first[1] === Math.random(), first[0] !== first[1], first[0] < 1);
}
