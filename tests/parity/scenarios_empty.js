// An empty object is no scenario: one iteration, and a warning.
export const options = { scenarios: {}, thresholds: { iterations: ["count==1"] } };

export default function () {}
