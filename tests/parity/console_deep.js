// parity: console
// Deep and long values.
export default function () {
  console.log({ a: { b: { c: { d: { e: 1 } } } } });
  console.log([[[[[1]]]]]);
  console.log(Array.from({ length: 120 }, (_, i) => i));
  console.log({ long1: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", long2: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", list: [1, 2, 3] });
  const shared = { x: 1 };
  console.log([shared, shared]);
  const a = { name: "a" };
  const b = { a };
  a.b = b;
  console.log(a);
}
