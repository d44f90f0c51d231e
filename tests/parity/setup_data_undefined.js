// parity: console
// Nothing of setup, and null.
export function setup() {}

export default function (data) {
  console.log(data === undefined, data === null, arguments.length);
}

export function teardown(data) {
  console.log(data === undefined, data === null);
}
