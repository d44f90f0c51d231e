// parity: log
// parity: args --iterations 1
// An option that nobody knows is warned of.
export const options = { vuss: 3, unknown_thing: { a: 1 } };

export default function () {}
