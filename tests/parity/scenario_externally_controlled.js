// An executor that k6 2 removed.
export const options = { scenarios: { a: { executor: "externally-controlled", vus: 1, duration: "1s" } } };

export default function () {}
