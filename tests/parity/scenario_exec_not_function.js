// A scenario's function that is none.
export const options = { scenarios: { a: { executor: "shared-iterations", exec: "named" } } };

export const named = 5;
