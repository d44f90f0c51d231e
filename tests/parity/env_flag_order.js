// parity: env K6_ITERATIONS=4
// parity: args --iterations 2
// A flag beats the environment.
export default function () {}
