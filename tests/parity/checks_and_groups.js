// The tree of checks and groups: order of first use, counts, nesting, the same names in several places.
import { check, group } from "k6";

export const options = {
  iterations: 3,
  thresholds: { checks: ["rate>0.5"], "checks{group:::a::b}": ["rate==1"], "group_duration{group:::a}": ["max>=0"] },
};

export default function () {
  check(1, { top: true, "sometimes": () => __ITER > 0 });
  group("z first", () => check(1, { inside: true }));
  group("a", () => {
    check(1, { inside: true });
    group("b", () => check(1, { deep: true }, { extra: "tag" }));
  });
  group("z first", () => group("a", () => check(1, { top: true })));
  if (__ITER === 2) group("late", () => {});
  check(1, { "é ☃ \"quoted\"": true, "": true });
}
