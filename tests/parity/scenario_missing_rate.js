// An arrival rate without a rate.
export const options = { scenarios: { a: { executor: "constant-arrival-rate", duration: "1s", preAllocatedVUs: 1 } } };

export default function () {}
