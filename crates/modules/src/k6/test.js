// check, group, sleep, fail, randomSeed: what they return, refuse and count. Runs under k6 as well.
import k6, { check, fail, group, randomSeed, sleep } from "k6";
import { Counter } from "k6/metrics";
import { messageOf } from "../../../../tests/lib/assert.js";

// Outcomes are counted here, since failing checks are part of the test.
const passed = new Counter("expectations_met");
const failed = new Counter("expectations_missed");

export const options = {
  thresholds: {
    expectations_met: ["count==35"],
    expectations_missed: ["count==0"],
    checks: ["rate==0.5"],
    "checks{check:held}": ["rate==1"],
    "checks{check:not held}": ["rate==0"],
    "checks{check:inside}": ["rate==1"],
    "checks{group:::outer::inner}": ["rate==1"],
    "checks{kind:tagged}": ["rate==1"],
    "checks{check:throws}": ["rate==0"],
    "group_duration{group:::outer}": ["max>=4", "max<1000"],
    "group_duration{group:::throwing}": ["max>=0"],
  },
};

function expect(what, met) {
  if (!met) console.error(`expectation missed: ${what}`);
  failed.add(met ? 0 : 1);
  passed.add(met ? 1 : 0);
}

const inInit = [messageOf(() => check(1, { a: true })), messageOf(() => group("a", () => 1))];
sleep(0.001);

export default function () {
  expect("check in init throws", inInit[0].includes("init context"));
  expect("group in init throws", inInit[1].includes("init context"));
  expect("the default export has all", ["check", "fail", "group", "randomSeed", "sleep"].every((name) => typeof k6[name] === "function"));

  expect("a check that holds", check(5, { held: (v) => v === 5 }) === true);
  expect("a check that does not", check(5, { "not held": (v) => v === 6 }) === false);
  expect("all must hold", check(5, { held: true, "not held": 0 }) === false);
  for (const value of [1, "x", {}, [], true]) expect(`${typeof value} is true`, check(null, { held: value }));
  for (const value of [0, "", null, undefined, NaN, false]) expect(`${value} is false`, !check(null, { "not held": value }));
  expect("tags", check(1, { held: true }, { kind: "tagged", number: 1 }));
  expect("no conditions hold", check(1, {}) && check(1, 5) && check(1, () => false));
  expect("inherited and hidden entries do not count", check(1, Object.create({ "not held": false })));
  expect("conditions are required", messageOf(() => check(1)).includes("no checks provided"));
  expect("null is no object", messageOf(() => check(1, null)) !== "");
  expect("bad tags throw", messageOf(() => check(1, { held: true }, { bad: {} })).includes("'bad'"));
  expect("a separator in the name throws", messageOf(() => check(1, { "a::b": true })).includes("::"));
  expect("async conditions are refused", messageOf(() => check(1, { asynchronous: async () => true })).includes("async"));
  expect("what a condition throws comes through", messageOf(() => check(1, { throws: () => { throw new Error("mine"); }, held: 1 })) === "mine");

  const result = group("outer", () => {
    sleep(0.005);
    return group("inner", () => {
      check(1, { inside: true });
      return 7;
    });
  });
  expect("group returns", result === 7);
  expect("group rethrows", messageOf(() => group("throwing", () => { throw new Error("mine"); })) === "mine");
  expect("a separator in the group throws", messageOf(() => group("a::b", () => 1)).includes("::"));
  expect("a function is required", messageOf(() => group("a")).includes("callback") && messageOf(() => group("a", 5)).includes("callback"));
  expect("async groups are refused", messageOf(() => group("a", async () => 1)).includes("async"));

  const before = Date.now();
  sleep(0.02);
  expect("sleep takes its time", Date.now() - before >= 19);
  sleep(-1);
  sleep(NaN);
  sleep();
  expect("fail throws", messageOf(() => fail("because")) === "because");
  expect("fail is an error", (() => { try { fail("x"); } catch (error) { return error instanceof Error; } })());

  randomSeed(5);
  const first = [Math.random(), Math.random()];
  randomSeed(5);
  expect("a seed repeats", first[0] === Math.random() && first[1] === Math.random() && first[0] !== first[1]);
}
