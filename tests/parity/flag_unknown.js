// parity: args --unknown-flag
// A flag that nobody knows.
export default function () {}
