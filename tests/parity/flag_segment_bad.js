// parity: args --execution-segment 1/2:1/4
// A segment that ends before it begins.
export default function () {}
