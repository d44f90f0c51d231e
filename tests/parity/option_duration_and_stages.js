// parity: log
// parity: no-counts
// Two ways to say how long.
export const options = { duration: "300ms", vus: 1, stages: [{ duration: "200ms", target: 1 }] };

export default function () {}
