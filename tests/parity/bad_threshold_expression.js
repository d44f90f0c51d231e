// parity: no-wrapper
// Exit code 104.
export const options = { thresholds: { checks: ["p(95)<<1"] } };
export default function () {}
