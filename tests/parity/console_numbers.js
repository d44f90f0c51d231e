// parity: console
// Numbers as text.
export default function () {
  console.log(0, -0, 1e21, 1e-7, 123456789012345680000, 0.1 + 0.2, 1 / 3, -1e300, Infinity, -Infinity, NaN);
  console.log({ a: 0, b: -0, c: 1e21, d: 1e-7, e: 0.1 + 0.2, f: Infinity, g: NaN, h: 100, i: 1e6, j: 12345678.9 });
  console.log([1.0, 2.50, 1e100, 5e-324, 9007199254740993, 10n]);
}
