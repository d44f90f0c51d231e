// parity: args --log-output none
// parity: console
// No log, no console lines.
export default function () {
  console.log("nobody reads this");
}
