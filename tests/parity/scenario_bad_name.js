// A name of a scenario that is not allowed.
export const options = { scenarios: { "a b": { executor: "shared-iterations" } } };

export default function () {}
