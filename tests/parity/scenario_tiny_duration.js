// A duration below a second.
export const options = { scenarios: { a: { executor: "constant-vus", vus: 1, duration: "10ms" } } };

export default function () {}
