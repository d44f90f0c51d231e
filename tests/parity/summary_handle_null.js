// parity: no-wrapper
// handleSummary that gives null.
export default function () {}

export function handleSummary() {
  return null;
}
