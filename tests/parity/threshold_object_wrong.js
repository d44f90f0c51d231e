// A threshold with fields that nobody knows.
export const options = { iterations: 1, thresholds: { iterations: [{ threshold: "count>0", abort: true }] } };

export default function () {}
