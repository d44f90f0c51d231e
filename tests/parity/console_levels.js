// parity: console
// parity: args --verbose
// Levels of console lines, debug too.
export default function () {
  console.debug("debug");
  console.log("log");
  console.info("info");
  console.warn("warn");
  console.error("error");
  console.log(Object.keys(console).sort().join(), typeof console.table, typeof console.trace, typeof console.time);
}
