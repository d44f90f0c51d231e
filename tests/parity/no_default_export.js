// parity: no-wrapper
// Nothing to run.
export const options = { iterations: 1 };
