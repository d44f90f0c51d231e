import { b } from "./cycle_b.js";

export function a() {
  return `a and ${b()}`;
}

export function late() {
  return "late";
}
