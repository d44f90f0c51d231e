// parity: no-wrapper
// Exit code 104.
export const options = { scenarios: { s: { executor: "constant-vus", vus: 1, duration: "1s", bogus: true } } };
export default function () {}
