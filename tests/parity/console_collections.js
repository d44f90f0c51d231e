// parity: console
// Maps, sets, typed arrays, views.
export default function () {
  console.log(new Map(), new Map([["a", { b: 1 }]]), new Set([1, "two"]));
  console.log({ map: new Map([[1, 2]]), set: new Set([1]) });
  console.log(new Int8Array([-1, 1]), new Uint8ClampedArray([300]), new BigInt64Array([1n]), new Float32Array([0.5]));
  console.log(new DataView(new ArrayBuffer(2)), new ArrayBuffer(0), new Uint8Array(0));
  console.log({ bytes: new Uint8Array([1]), buffer: new ArrayBuffer(3) });
  console.log(new Uint8Array(200));
}
