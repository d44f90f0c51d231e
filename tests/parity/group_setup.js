// Groups and checks of setup and teardown.
import { check, group } from "k6";

export const options = { iterations: 1 };

export function setup() {
  check(1, { "in setup": true });
  group("inner", () => check(1, { "deep in setup": true }));
}

export default function () {}

export function teardown() {
  group("inner", () => check(0, { "deep in teardown": (v) => v === 1 }));
}
