// Timers run in order, can be cleared, and keep the iteration open. Runs under k6 as well.
import { check } from "k6";
import timers, { clearInterval, clearTimeout, setInterval, setTimeout } from "k6/timers";

export const options = { thresholds: { checks: ["rate==1"] } };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default async function () {
  const order = [];
  setTimeout(() => order.push("late"), 20);
  setTimeout((a, b) => order.push(a + b), 1, "ear", "ly");
  clearTimeout(setTimeout(() => order.push("cleared"), 5));
  let ticks = 0;
  const ticking = setInterval(() => {
    if (++ticks === 3) clearInterval(ticking);
  }, 1);
  Promise.resolve().then(() => order.push("microtask"));
  order.push("now");
  await wait(60);
  check(order, {
    "in the order of their time": (o) => o.join() === "now,microtask,early,late",
    "an interval ends when it is cleared": () => ticks === 3,
    "the globals are the same functions": () => typeof timers.setTimeout === "function" && typeof globalThis.setTimeout === "function",
  });
  // The iteration stays open for this check, which nobody awaits.
  setTimeout(() => check(null, { "a pending timer keeps the iteration open": () => true }), 10);
}
