// An aggregation that the kind does not have.
export const options = { thresholds: { iterations: ["p(95)<1"] } };

export default function () {}
