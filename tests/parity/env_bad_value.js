// parity: env K6_ITERATIONS=many
// A variable that is no number.
export default function () {}
