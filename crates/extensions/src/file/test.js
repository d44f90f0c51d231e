import file, { readFile, writeString } from "k6/x/file";
import { is, thrown } from "../../../../tests/lib/assert.js";

export const options = {
  vus: 4,
  iterations: 40,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 40"] },
};

// A folder that is there and may be written to.
const folder = `${__ENV.FOLDER}/onrush`;
const log = `${folder}/log.txt`;

// Init code may write as well; each user runs it.
file.createDirectory(`${folder}/deep`);
file.appendString(`${folder}/inits.txt`, "x");

export function setup() {
  const path = `${folder}/a.txt`;
  is("undefined comes back", file.writeString(path, "one\ntwo\n"), undefined);
  is("named exports", [writeString === file.writeString, readFile(path)], [true, "one\ntwo\n"]);
  file.appendString(path, "three ü");
  is("append", file.readFile(path), "one\ntwo\nthree ü");
  file.removeRowsBetweenValues(path, 2, 2);
  is("rows", file.readFile(path), "one\nthree ü");
  file.writeString(path, "x");
  is("write replaces", file.readFile(path), "x");
  file.clearFile(path);
  is("clear", file.readFile(path), "");
  file.writeBytes(path, [104, 105]);
  is("numbers", file.readFile(path), "hi");
  file.writeBytes(path, new Uint8Array([0, 72, 73]).subarray(1));
  is("a view", file.readFile(path), "HI");
  file.writeBytes(path, new Uint8Array([0xff, 65]).buffer);
  is("no UTF-8", file.readFile(path), "\ufffdA");
  file.renameFile(path, `${folder}/b.txt`);
  is("rename", [thrown(() => file.readFile(path)).includes("cannot read"), file.readFile(`${folder}/b.txt`)], [true, "\ufffdA"]);
  file.deleteFile(`${folder}/b.txt`);
  file.writeString(`${folder}/deep/c.txt`, "c");
  file.deleteDirectory(`${folder}/deep`);
  refusals(path);
}

function refusals(path) {
  const missing = "No such file or directory (os error 2)";
  is("nothing there", thrown(() => file.deleteFile(path)), `GoError: deleteFile(): cannot delete ${path}: ${missing}`);
  is("nothing to clear", thrown(() => file.clearFile(path)), `GoError: clearFile(): cannot clear ${path}: ${missing}`);
  is(
    "nothing to rename",
    thrown(() => file.renameFile(path, "x")),
    `GoError: renameFile(): cannot rename ${path} to x: ${missing}`,
  );
  const below = `${folder}/deep/c.txt`;
  is("no folder", thrown(() => file.writeString(below, "")), `GoError: writeString(): cannot write ${below}: ${missing}`);
  is("a folder", thrown(() => file.readFile(folder)), `GoError: readFile(): cannot read ${folder}: it is a directory, expected a file`);
  is("no path", thrown(() => file.readFile()), "GoError: readFile(): argument 1 is missing, expected the path");
  is("no text", thrown(() => file.writeString(path)), "GoError: writeString(): argument 2 is missing, expected the text");
  is("an empty path", thrown(() => file.clearFile("")), "GoError: clearFile(): the path is empty");
  const bytes = "expected an ArrayBuffer, a view of one, or an array of numbers from 0 to 255";
  is("a large byte", thrown(() => file.writeBytes(path, [1, 256])), `GoError: writeBytes(): element 1 is "256", ${bytes}`);
  is("no bytes", thrown(() => file.writeBytes(path, "text")), `GoError: writeBytes(): found string, ${bytes}`);
  is(
    "row 0",
    thrown(() => file.removeRowsBetweenValues(path, 0, 1)),
    "GoError: removeRowsBetweenValues(): the first row is 0, expected a whole number from 1",
  );
  is(
    "rows out of order",
    thrown(() => file.removeRowsBetweenValues(path, 3, 2)),
    "GoError: removeRowsBetweenValues(): the first row is 3 and the last one 2, expected them in order",
  );
}

export default function () {
  file.appendString(log, `${__VU} ${__ITER} ${"y".repeat(5000)}\n`);
}

export function teardown() {
  const rows = file.readFile(log).split("\n");
  is("all users appended whole rows", [rows.length, rows.every((row) => row === "" || /^\d+ \d+ y{5000}$/.test(row))], [41, true]);
  is("init code wrote", file.readFile(`${folder}/inits.txt`).length >= 5, true);
  file.deleteDirectory(folder);
}
