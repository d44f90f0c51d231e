// open: text, bytes, a file that is not there, and outside of init code.
import { check } from "k6";

const text = open("./lib/rows.csv");
const bytes = open("./lib/rows.csv", "b");
let missing = "";
try {
  open("./lib/nothing.txt");
} catch (error) {
  missing = error.message;
}

export default function () {
  let late = "";
  try {
    open("./lib/rows.csv");
  } catch (error) {
    late = error.message;
  }
  check(null, {
    text: () => typeof text === "string" && text.length > 0,
    bytes: () => bytes instanceof ArrayBuffer && bytes.byteLength >= text.length,
    missing: () => missing.includes("nothing.txt"),
    "not in an iteration": () => late.includes("init"),
  });
}
