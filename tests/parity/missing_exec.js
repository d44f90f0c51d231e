// parity: no-wrapper
// A scenario that names a function which is not exported.
export const options = { scenarios: { s: { executor: "shared-iterations", exec: "missing" } } };
export default function () {}
