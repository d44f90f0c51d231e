// parity: console
// Texts inside of objects, quotes, escapes, lengths.
export default function () {
  console.log(["single 'quotes'", 'double "quotes"', "both ' \"", "line\nbreak", "tab\t", "back\\slash", "\u0000\u001b\u2028", "é☃😀", "`tick`"]);
  console.log({ "key-dash": 1, "1a": 2, a1: 3, "é": 4, "": 5, $x: 6, _y: 7 });
  console.log("x".repeat(300).length, ["x".repeat(120)]);
  console.log("\ud800", ["\ud800"]);
}
