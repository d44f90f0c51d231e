// parity: no-wrapper
// A name that is declared twice.
const a = 1;
const a = 2;

export default function () {}
