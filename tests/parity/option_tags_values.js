// parity: log
// Run tags that are no strings.
export const options = { iterations: 1, tags: { number: "1", empty: "" } };

export default function () {}
