// parity: no-wrapper
// parity: args --summary-mode unknown
// A mode that is none.
export default function () {}
