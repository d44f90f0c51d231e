// No users at all.
export const options = { vus: 0, iterations: 1 };

export default function () {}
