// parity: no-wrapper
// A rejection in setup() that nobody handles ends the test: exit code 255.
export default function () {}

export function setup() {
  Promise.reject(new Error("nobody handles it"));
}
