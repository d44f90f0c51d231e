// parity: log
// Users beside scenarios.
export const options = { vus: 2, scenarios: { a: { executor: "shared-iterations", iterations: 3 } } };

export default function () {}
