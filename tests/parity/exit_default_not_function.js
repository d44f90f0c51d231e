// parity: no-wrapper
// A default that is no function.
export default 5;
