// An executor that nobody knows.
export const options = { scenarios: { a: { executor: "shared" } } };

export default function () {}
