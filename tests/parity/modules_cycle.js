// parity: console
// Modules that import each other.
import { a, late } from "./lib/cycle_a.js";

export default function () {
  console.log(a(), late());
}
