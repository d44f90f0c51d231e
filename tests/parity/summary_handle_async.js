// parity: no-wrapper
// parity: stdout
// An async handleSummary.
export default function () {}

export async function handleSummary() {
  await Promise.resolve();
  return { stdout: "later\n" };
}
