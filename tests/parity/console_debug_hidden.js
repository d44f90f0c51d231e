// parity: console
// Debug lines are not shown.
export default function () {
  console.debug("debug");
  console.log("log");
}
