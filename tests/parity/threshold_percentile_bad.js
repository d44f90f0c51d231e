// A percentile that is none.
export const options = { thresholds: { iteration_duration: ["p(101)<1"] } };

export default function () {}
