// Tags of a check, and of what it is made within.
import { check, group } from "k6";
import exec from "k6/execution";

export const options = {
  thresholds: {
    "checks{kind:own}": ["rate==1"],
    "checks{check:named}": ["rate==0.5"],
    "checks{group:::outer::inner}": ["rate==1"],
    "checks{user:tag}": ["rate==1"],
  },
};

export default function () {
  check(1, { own: true }, { kind: "own" });
  check(1, { named: true });
  check(1, { named: false });
  group("outer", () => group("inner", () => check(1, { deep: true })));
  exec.vu.metrics.tags.user = "tag";
  check(1, { tagged: true });
}
