// Options that are null are as if absent.
export const options = { vus: null, iterations: null, duration: null, stages: null, thresholds: null, tags: null };

export default function () {}
