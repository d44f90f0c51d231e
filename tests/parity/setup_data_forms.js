// parity: console
// What setup gives becomes JSON; each user has its own copy.
export const options = { iterations: 2 };

export function setup() {
  return { z: 1, a: [undefined, new Date(0)], n: null, u: undefined, nan: NaN, b: new Uint8Array([1]).buffer, t: new Uint8Array([1, 2]), big: 1e21, s: "é\u2028<>&" };
}

export default function (data) {
  console.log(JSON.stringify(data, Object.keys(data).sort()));
  console.log(JSON.stringify(data.a), JSON.stringify(data.t), JSON.stringify(data.s), data.changed);
  data.changed = __ITER;
}

export function teardown(data) {
  console.log(data.changed, data.z);
}
