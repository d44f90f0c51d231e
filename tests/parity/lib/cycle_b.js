import { late } from "./cycle_a.js";

export function b() {
  return `b with ${late()}`;
}
