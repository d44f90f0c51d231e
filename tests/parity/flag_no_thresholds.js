// parity: args --no-thresholds
// Thresholds are not judged.
export const options = { iterations: 1, thresholds: { iterations: ["count>5"], nothing: ["count>0"] } };

export default function () {}
