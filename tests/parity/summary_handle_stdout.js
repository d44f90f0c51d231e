// parity: no-wrapper
// parity: stdout
// What goes to standard output and standard error.
export default function () {}

export function handleSummary(data) {
  delete data.metrics;
  data.own = 1;
  return { stdout: `one\n${Object.keys(data).sort().join()}\n`, stderr: "two\n" };
}
