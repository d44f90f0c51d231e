// Iterations and the longest time they may take.
export const options = { iterations: 3, duration: "5s", vus: 2 };

export default function () {}
