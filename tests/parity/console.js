// parity: console
// How values are printed.
export const options = { iterations: 1 };

export default function () {
  console.log("text", 1, 1.5, -0, NaN, true, null, undefined, 10n);
  console.info("info");
  console.warn("warn");
  console.error("error");
  console.log();
  console.log("");
  console.log("%s is %d", "one", 1);
  console.log({ a: 1, b: "two", c: [1, "x", null], d: { e: true } });
  console.log([], {}, [[]], [1, [2, [3]]]);
  console.log({ f() {}, u: undefined, n: null, "with space": 1, 1: 2 });
  console.log(() => 1, function named() {}, class Thing {});
  console.log(new Error("message"));
  console.log(new Date(0), /a+/g, new Map([[1, 2]]), new Set([1]));
  console.log(new Uint8Array([1, 2]), new ArrayBuffer(2), new Float64Array([1.5]));
  console.log("line\nbreak \"quotes\" é ☃ \\ tab\t");
  console.log([undefined, , 3]);
  console.log(new (class Point { constructor() { this.x = 1; } })());
  const cycle = { name: "cycle" };
  cycle.self = cycle;
  console.log(cycle);
  console.log(new String("boxed"), new Number(1), Object(true));
  console.log([{ a: 1 }, { b: [{ c: 1 }] }]);
  console.log(Symbol.iterator.toString());
}
