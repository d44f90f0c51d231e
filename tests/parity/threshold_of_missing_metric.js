// parity: log
// A threshold of a metric that nobody makes.
export const options = { iterations: 1, thresholds: { missing_metric: ["count>5"] } };

export default function () {}
