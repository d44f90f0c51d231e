// onrush/mix: shares, plans that are kept, and refusals.
import { check, randomSeed } from "k6";
import { every, mix } from "onrush/mix";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

function drawn(next, count) {
  const found = {};
  for (let n = 0; n < count; n++) {
    const name = next();
    found[name] = (found[name] || 0) + 1;
  }
  return found;
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export default async function () {
  randomSeed(7);
  const next = mix({ often: 90, rarely: 9.5, never: 0, hardly: 0.5 });
  const first = drawn(next, 4000);
  randomSeed(7);
  const again = drawn(next, 4000);
  check(first, {
    "shares follow the weights": (f) => Math.abs(f.often - 3600) < 120 && Math.abs(f.rarely - 380) < 100 && f.hardly > 2,
    "a weight of nothing is never drawn": (f) => f.never === undefined,
    "a seed repeats the draws": (f) => JSON.stringify(f) === JSON.stringify(again),
  });

  // A handler that takes three intervals the first time: the calls behind it catch up, and none is left out.
  const begin = Date.now();
  const calls = [];
  every(20, (late) => {
    calls.push(late);
    const until = Date.now() + (calls.length === 1 ? 60 : 0);
    while (Date.now() < until);
  }, { count: 10 });
  while (calls.length < 10) await wait(10);
  const took = Date.now() - begin;
  check(calls, {
    "ten calls end ten intervals later or when the machine lets them": () => took >= 195,
    "those behind a slow one are late and say so": (c) => c[1] > 30 && c[2] > 10,
    "lateness is a number from 0 on": (c) => c.every((late) => late >= 0),
  });

  let count = 0;
  const stopped = every("1ms", () => {
    count++;
    if (count === 3) stopped.stop();
  });
  let once = 0;
  every("1ms", () => { once++; }, { count: 1, law: "poisson" });
  await wait(40);
  check(null, {
    "stops from within": () => count === 3,
    "a count is kept": () => once === 1,
    "stopping twice is fine": () => stopped.stop() === undefined,
  });

  check(null, {
    "no weights": () =>
      thrown(() => mix()) === "TypeError: mix: the weights are undefined, expected an object such as { read: 9, write: 1 }",
    "a bad weight": () =>
      thrown(() => mix({ a: "x" })) === 'RangeError: mix: the weight of "a" is x, expected a number from 0 on',
    "no weight above nothing": () => thrown(() => mix({ a: 0 })).startsWith("RangeError: mix: no weight is above 0"),
    "a bad interval": () =>
      thrown(() => every("soon", () => {})) ===
      "RangeError: every: the interval is \"soon\", expected a time above 0, as in '500ms' or 500",
    "no interval": () => thrown(() => every(0, () => {})).startsWith("RangeError: every: the interval is"),
    "no handler": () => thrown(() => every(5)).startsWith("TypeError: every: the second argument"),
    "a bad law": () =>
      thrown(() => every(5, () => {}, { law: "gauss" })) ===
      "RangeError: every: the law is \"gauss\", expected 'constant' or 'poisson'",
    "a bad count": () => thrown(() => every(5, () => {}, { count: 0.5 })).startsWith("RangeError: every: the count"),
    "stop of something else": () => thrown(() => stopped.stop.call({})).startsWith("TypeError: stop belongs to"),
  });
}
