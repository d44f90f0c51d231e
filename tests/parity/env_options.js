// parity: env K6_ITERATIONS=4
// parity: env K6_VUS=2
// parity: env K6_TAGS=from:environment
// parity: env K6_SUMMARY_TREND_STATS=avg,max
// Options of the environment beat those of the script.
export const options = { iterations: 1, tags: { from: "script" } };

export default function () {}
