// parity: console
// How often init code runs.
console.log("init", __VU);

export const options = { vus: 1, iterations: 2 };

export function setup() {}

export default function () {}

export function teardown() {}
