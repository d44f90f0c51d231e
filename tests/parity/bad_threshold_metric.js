// parity: no-wrapper
// A threshold on a metric that nobody defines: exit code 104.
export const options = { thresholds: { no_such_metric: ["count>0"] } };
export default function () {}
