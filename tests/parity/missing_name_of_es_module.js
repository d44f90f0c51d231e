// parity: no-wrapper
// A name that an ES module does not export fails at once: exit code 107.
import { nothing } from "./lib/asks_for_more.js";

export default function () {
  return nothing;
}
