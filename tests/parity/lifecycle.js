// Setup data, order of phases, what each phase sees; a second virtual user must not see changes of the first.
export const options = { vus: 2, iterations: 4, thresholds: { checks: ["rate==1"] } };
import { check, group } from "k6";
import { Counter } from "k6/metrics";

const rounds = new Counter("rounds");

export function setup() {
  check(1, { "in setup": true });
  return { list: [1, { deep: "é" }], date: new Date(0), nothing: undefined, number: 1.5, bytes: new Uint8Array([1, 2]) };
}

export default function (data) {
  rounds.add(1);
  data.seen = (data.seen || 0) + 1;
  group("outer", () => {
    check(data, {
      "data came through JSON": (d) => d.date === "1970-01-01T00:00:00Z" || d.date === "1970-01-01T00:00:00.000Z",
      "nested": (d) => d.list[1].deep === "é" && d.number === 1.5,
      "kept by this user alone": (d) => d.seen === __ITER + 1,
    });
    group("inner", () => check(1, { "inside": true }));
  });
}

export function teardown(data) {
  check(data, { "a fresh copy": (d) => d.seen === undefined && d.list.length === 2 });
}
