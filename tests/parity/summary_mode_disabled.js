// parity: no-wrapper
// parity: args --summary-mode disabled
// parity: stdout
// No summary at all.
export default function () {}
