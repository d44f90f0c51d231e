// Groups within groups, used twice, with the same name at two places, and left by an exception.
import { check, group } from "k6";

export default function () {
  for (let i = 0; i < 2; i++) {
    group("a", () => {
      group("b", () => check(i, { even: (n) => n % 2 === 0 }));
      check(i, { even: (n) => n % 2 === 0 });
    });
  }
  group("b", () => check(1, { even: true }));
  const value = group("returns", () => 42);
  try {
    group("throws", () => { throw new Error("left"); });
  } catch (error) {
    check(error, { "passed on": (e) => e.message === "left" && value === 42 });
  }
  check(1, { "outside again": true });
}
