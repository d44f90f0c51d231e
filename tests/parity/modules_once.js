// parity: console
// A module runs once for each user, whoever imports it, by whatever path.
import { count as first } from "./lib/counted.js";
import { count as second } from "./lib/../lib/counted.js";

export const options = { iterations: 1 };

export default function () {
  console.log(first(), second());
}
