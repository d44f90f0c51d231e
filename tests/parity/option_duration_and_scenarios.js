// parity: log
// parity: no-counts
// A duration beside scenarios.
export const options = { duration: "200ms", scenarios: { a: { executor: "shared-iterations", iterations: 3 } } };

export default function () {}
