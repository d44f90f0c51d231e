// A threshold without a text.
export const options = { thresholds: { iterations: [""] } };

export default function () {}
