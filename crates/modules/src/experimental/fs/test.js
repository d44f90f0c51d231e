// Files: opened once, read in pieces, each virtual user at its own position. Runs under k6 as well.
import { check } from "k6";
import fs, { open, SeekMode } from "k6/experimental/fs";

export const options = {
  scenarios: { each: { executor: "per-vu-iterations", vus: 2, iterations: 2 } },
  thresholds: { checks: ["rate==1"] },
};

const path = import.meta.resolve("./test.js");
const text = globalThis.open(path.slice("file://".length));

async function rejected(promise) {
  try {
    await promise;
    return "";
  } catch (error) {
    return error.name;
  }
}

const file = await open(path);
const other = await fs.open(path);
const early = file.seek(3, SeekMode.Start).then(() => file.seek(0, SeekMode.Current));
const refused = {
  "no path": (await rejected(open())) === "TypeError" && (await rejected(open(null))) === "TypeError",
  "an empty path": (await rejected(open(""))) === "TypeError",
  "no such file": (await rejected(open("/not/there"))) === "NotFoundError",
  "a folder": (await rejected(open("/"))) === "InvalidResourceError",
};

export default async function () {
  const bytes = new Uint8Array(10);
  const ascii = (from, to) => String.fromCharCode(...bytes.subarray(from, to));
  const stat = await file.stat();
  check(stat, {
    "name and size": (s) => s.name === "test.js" && s.size === text.length && Object.keys(s).join() === "name,size",
    "a path": () => "file://" + file.path === path && Object.keys(file).join() === "path,read,seek,stat",
    "modes": () => SeekMode.Start === 0 && SeekMode.Current === 1 && SeekMode.End === 2,
    "init code may seek": () => true,
  });
  check(await early, { "in the order of the calls": (position) => position === 3 });

  await file.seek(0, SeekMode.Start);
  await other.seek(0, SeekMode.Start);
  const pending = file.read(bytes);
  check(bytes, { "nothing is read before the script gives way": (b) => b.every((byte) => byte === 0) });
  check(await pending, { "a whole piece": (read) => read === 10 && ascii(0, 10) === text.slice(0, 10) });
  check(await file.read(bytes), { "the next piece": (read) => read === 10 && ascii(0, 10) === text.slice(10, 20) });
  check(await other.seek(0, SeekMode.Current), { "another handle stays where it was": (position) => position === 0 });
  check(await file.seek(5, SeekMode.Start), { "to a position": (position) => position === 5 });
  await file.read(new Uint8Array(4));
  check(await file.seek(0, SeekMode.Current), { "reading moves on": (position) => position === 9 });

  check(await file.seek(-3, SeekMode.End), { "from the last byte": (position) => position === stat.size - 4 });
  bytes.fill(0);
  check(await file.read(bytes), { "the end is shorter": (read) => read === 4 && ascii(0, 4) === text.slice(-4) && bytes[4] === 0 });
  check(await file.read(bytes), { "null behind the end": (read) => read === null });
  check(await file.read(new Uint8Array(0)), { "for an empty array, too": (read) => read === null });
  check(await other.read(new Uint8Array(0)), { "nothing into nothing": (read) => read === 0 });
  check(await file.seek(stat.size, SeekMode.Start), { "to the end": (position) => position === stat.size });

  for (const [offset, mode] of [[-1, 0], [stat.size + 1, 0], [1, 2], [-stat.size, 2], [1, 1], [-stat.size - 1, 1], [1.5, 0], ["1", 0], [NaN, 0], [0, 3], [0, "1"], [undefined, 0], [0, undefined], [true, 0]]) {
    check(await rejected(file.seek(offset, mode)), { [`no seek to ${String(offset)} by ${String(mode)}`]: (name) => name === "TypeError" });
  }
  for (const into of [undefined, null, 5, "text", [0], {}, new ArrayBuffer(4), new DataView(new ArrayBuffer(4)), new Int8Array(4), new Uint8ClampedArray(4), new Uint16Array(2)]) {
    check(await rejected(file.read(into)), { [`no read into ${Object.prototype.toString.call(into)}`]: (name) => name === "TypeError" });
  }
  check(await file.seek(0, SeekMode.Current), { "what failed moved nothing": (position) => position === stat.size });
  const { read, seek } = other;
  check(await seek(2, 0), { "functions know their file": (position) => position === 2 });
  check(await read(bytes), { "so does read": (n) => n === 10 && ascii(0, 10) === text.slice(2, 12) });
  check(await rejected(open(path)), { "no opening in an iteration": (name) => name === "ForbiddenError" });
  check(refused, Object.fromEntries(Object.keys(refused).map((name) => [`refused: ${name}`, (r) => r[name]])));
}
