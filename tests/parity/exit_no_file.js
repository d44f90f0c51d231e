// parity: no-wrapper
// parity: args /not/there.js
// Two files are too many.
export default function () {}
