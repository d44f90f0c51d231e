// parity: log
// More users than iterations.
export const options = { vus: 5, iterations: 2 };

export default function () {}
