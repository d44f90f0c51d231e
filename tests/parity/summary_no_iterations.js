// A summary of nothing but checks of setup.
import { check } from "k6";

export const options = { vus: 1, duration: "1s" };

export function setup() {
  check(1, { early: true });
  throw new Error("in setup");
}

export default function () {}
