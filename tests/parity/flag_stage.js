// parity: args --stage 300ms:1,200ms:0
// parity: no-counts
// Stages by a flag.
export default function () {}
