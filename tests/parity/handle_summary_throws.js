// parity: no-wrapper
// Logged only: exit code 0.
export default function () {}
export function handleSummary() {
  throw new Error("summary");
}
