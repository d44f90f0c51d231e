// await at the top of a module.
import { check } from "k6";

const value = await new Promise((resolve) => resolve(7));

export default function () {
  check(value, { "was awaited": (v) => v === 7 });
}
