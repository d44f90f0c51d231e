// parity: no-wrapper
// A rejection in teardown() that nobody handles ends the test: exit code 255.
export default function () {}

export function teardown() {
  Promise.reject(new Error("nobody handles it"));
}
