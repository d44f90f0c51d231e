// Exit code 107, no iteration.
import { check } from "k6";

export function setup() {
  throw new Error("setup");
}

export default function () {
  check(1, { never: false });
}
