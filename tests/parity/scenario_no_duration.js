// A scenario of users without a duration.
export const options = { scenarios: { a: { executor: "constant-vus", vus: 1 } } };

export default function () {}
