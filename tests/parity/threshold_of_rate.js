// A count of a rate.
export const options = { thresholds: { checks: ["count>1"] } };

export default function () {}
