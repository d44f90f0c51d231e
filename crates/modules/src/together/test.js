// onrush/together: one start for all users, what is left until the end, and refusals.
import { check, sleep } from "k6";
import { Counter, Trend } from "k6/metrics";
import { ready, remaining } from "onrush/together";
import { thrown } from "../../../../tests/lib/assert.js";

const starts = new Counter("starts");
const late = new Trend("start_late");

export const options = {
  scenarios: {
    fixed: { executor: "per-vu-iterations", vus: 5, iterations: 1, maxDuration: "20s", exec: "fixed" },
    open: { executor: "constant-arrival-rate", rate: 1, duration: "1s", preAllocatedVUs: 1, exec: "open" },
  },
  // Nobody starts ahead of the plan; Date.now() has whole milliseconds.
  thresholds: { checks: ["rate==1"], starts: ["count==5"], start_late: ["min>-1"] },
};

const early = [thrown(() => ready()), thrown(() => remaining())];

export async function fixed() {
  // Not all at once: the last one comes 200 ms after the first.
  sleep(0.05 * (__VU % 5));
  const come = Date.now();
  const before = remaining();
  const start = await ready({ duration: "2s" });
  const now = Date.now();
  starts.add(1);
  late.add(now - start.at);
  const again = await ready();
  const left = remaining();
  const second = await ready({ name: "second", lead: 1 });
  check(start, {
    "everybody came": (s) => s.users === 5 && s.missing === 0,
    "the start is ahead of whoever comes last": (s) => s.at > come,
    "a second call gets the same start": (s) => s.at === again.at && again.users === 5,
    "the end is counted from the start": () => left > 0 && left <= 2000,
    "before, it is the scenario's": () => before > 2000 && before <= 20000,
    "meetings with names are others": (s) => second.at >= s.at && second.users === 5,
    "init code has none": () => early.every((text) => text.includes("not in init code, setup or teardown")),
  });
}

export async function open() {
  const missed = await ready({ users: 2, timeout: 50, name: "alone" });
  check(missed, {
    "it starts without those who do not come": (s) => s.users === 1 && s.missing === 1,
    "a number of users is needed": () =>
      thrown(() => ready()) ===
      "TypeError: ready: the number of users of constant-arrival-rate is not fixed; write ready({ users: 50 })",
    "a bad number": () =>
      thrown(() => ready({ users: 0 })) === "RangeError: ready: users is 0, expected a whole number from 1 on",
    "a bad time": () =>
      thrown(() => ready({ users: 1, lead: "soon" })) ===
      "RangeError: ready: lead is \"soon\", expected a time, as in '30s' or 30000",
  });
}
