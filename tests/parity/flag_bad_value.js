// parity: args --vus many
// A number that is none.
export default function () {}
