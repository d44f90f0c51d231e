// parity: console
// The numbers of users and iterations in each phase.
export const options = { iterations: 2 };

const where = typeof __ITER;

export function setup() {
  console.log("setup", __VU, where, typeof __ITER);
}

export default function () {
  console.log("iteration", __VU, __ITER, where);
}

export function teardown() {
  console.log("teardown", __VU);
}
