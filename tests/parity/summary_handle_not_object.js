// parity: no-wrapper
// parity: log
// handleSummary that gives a text.
export default function () {}

export function handleSummary() {
  return "text";
}
