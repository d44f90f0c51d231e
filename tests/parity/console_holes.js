// parity: console
// Holes, undefined and null at all places.
export default function () {
  console.log([, 1, , 2], [undefined], [null], { a: undefined, b: null }, [[undefined]]);
  console.log(undefined, null);
  console.log(new Array(3));
  const list = [1, 2];
  list.extra = "x";
  console.log(list);
  console.log((function () { return arguments; })(1, 2));
}
