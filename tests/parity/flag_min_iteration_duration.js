// parity: args --min-iteration-duration 200ms
// An iteration waits until the least time is over.
export const options = { iterations: 2, thresholds: { iteration_duration: ["min<200"] } };

export default function () {}
