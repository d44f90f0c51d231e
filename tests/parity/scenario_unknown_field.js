// A field of a scenario that nobody knows.
export const options = { scenarios: { a: { executor: "shared-iterations", vuss: 1 } } };

export default function () {}
