// parity: no-wrapper
// A file that exports options alone.
export const options = { iterations: 1 };
