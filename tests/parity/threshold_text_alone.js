// A threshold that is a text, not a list.
export const options = { thresholds: { iterations: "count>0" } };

export default function () {}
