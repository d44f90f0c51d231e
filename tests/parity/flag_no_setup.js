// parity: args --no-setup --no-teardown
// parity: console
// Neither setup nor teardown runs.
export const options = { iterations: 1 };

export function setup() {
  console.log("setup");
}

export default function (data) {
  console.log(data === undefined);
}

export function teardown() {
  console.log("teardown");
}
