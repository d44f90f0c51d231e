// onrush/fs: opening, ranges and refusals. What is sent is looked at in the tests of the binary.
import { check } from "k6";
import http from "k6/http";
import fs, { FileStream, open } from "onrush/fs";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const self = open("./test.js");

export default function () {
  check(null, {
    "named and default": () => fs.open === open && fs.FileStream === FileStream,
    "a class": () => new FileStream("./test.js") instanceof FileStream && self instanceof FileStream,
    "size and path": () => self.size > 1000 && self.path.endsWith("/onrush_fs/test.js") && self.path.startsWith("/"),
    "nothing to see but these": () => JSON.stringify(Object.keys(self)) === '["path","size"]',
    "slices": () => self.slice(10, 30).slice(5).size === 15 && self.slice().size === self.size,
    "a range outside": () =>
      thrown(() => self.slice(0, self.size + 1)) ===
      `RangeError: slice: end is ${self.size + 1}, expected a whole number from 0 to ${self.size}`,
    "a negative range": () => thrown(() => self.slice(-5)).startsWith("RangeError: slice: start is -5"),
    "no number": () => thrown(() => self.slice(NaN)).startsWith("RangeError: slice: start is NaN"),
    "no such file": () => /^Error: open \/.*\/missing: no such file or directory$/.test(thrown(() => open("./missing"))),
    "a directory": () => /^Error: open \/.*: is a directory, expected a file$/.test(thrown(() => new FileStream("."))),
    "no path": () => thrown(() => open()) === "TypeError: the path of the file is undefined, expected a string",
    "an empty path": () => thrown(() => open("")) === "TypeError: the path of the file is empty, expected a string",
    "a form's file is called as it is": () => http.file(self).filename === "test.js" && http.file(self, "a").filename === "a",
  });
}
