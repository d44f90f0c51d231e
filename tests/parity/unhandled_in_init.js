// parity: no-wrapper
// A rejection in init code that nobody handles ends the test: exit code 255.
Promise.reject(new Error("nobody handles it"));

export default function () {}
