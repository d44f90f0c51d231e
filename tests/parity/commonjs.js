// require of files, of built-in modules, of ES modules; import of CommonJS.
import { check } from "k6";
import old, { name, next } from "./lib/old.js";

const again = require("./lib/old.js");
const { value } = require("./lib/new.js");
const encoding = require("k6/encoding");

export default function () {
  check(null, {
    "default and names": () => old.name === "old" && name === "old" && old.late === true,
    "one instance": () => next() === 1 && again.next() === 2,
    "require of an ES module": () => value === "new",
    "require of a built-in": () => encoding.b64encode("a") === "YQ==",
  });
}
