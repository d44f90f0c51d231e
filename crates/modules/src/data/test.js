// SharedArray: made once, read as an array, never changed. Runs under k6 as well.
import { check } from "k6";
import { SharedArray } from "k6/data";
import { messageOf } from "../../../../tests/lib/assert.js";

export const options = { vus: 2, iterations: 4, thresholds: { checks: ["rate==1"] } };

let calls = 0;
const mixed = new SharedArray("mixed", () => {
  calls++;
  return [{ a: 1, list: [1, { c: 2 }], date: new Date(0), lost() {} }, 5, "text \"quoted\" é", null, true, [1, 2], "plain"];
});
const again = new SharedArray("mixed", () => {
  calls++;
  return [];
});
const rows = new SharedArray("rows", () => Array.from({ length: 5 }, (_, id) => ({ id })));
const empty = new SharedArray("empty", () => []);
const refused = {
  "no function": messageOf(() => new SharedArray("none")),
  "no name": messageOf(() => new SharedArray("", () => [])),
  "no array": messageOf(() => new SharedArray("object", () => ({ length: 1 }))),
  "async function": messageOf(() => new SharedArray("async", async () => [])),
};
const passed = messageOf(() => new SharedArray("throws", () => { throw new Error("from the script"); }));

export default function () {
  check(mixed, {
    "made at most once": () => calls <= 1 && again.length === 7,
    "is an array": (m) => Array.isArray(m) && m instanceof Array && typeof m === "object",
    "has a length": (m) => m.length === 7 && empty.length === 0,
    "objects": (m) => m[0].a === 1 && m[0].list[1].c === 2 && m[0].date === "1970-01-01T00:00:00.000Z",
    "functions are lost": (m) => m[0].lost === undefined,
    "numbers, strings, null, booleans": (m) =>
      m[1] === 5 && m[2] === 'text "quoted" é' && m[3] === null && m[4] === true && m[6] === "plain",
    "nothing beyond the end": (m) => m[7] === undefined && m[-1] === undefined && m[1.5] === undefined && m["01"] === undefined,
    "a new value at each access": (m) => m[0] !== m[0],
    "values are frozen all the way down": (m) =>
      Object.isFrozen(m[0]) && Object.isFrozen(m[0].list) && Object.isFrozen(m[0].list[1]),
    "changing a value throws": (m) => messageOf(() => { m[0].a = 2; }) !== "" && m[0].a === 1,
  });
  check(rows, {
    "for of": (r) => { let ids = ""; for (const row of r) ids += row.id; return ids === "01234"; },
    "for in": (r) => { let keys = ""; for (const key in r) keys += key; return keys === "01234"; },
    "spread": (r) => [...r].map((row) => row.id).join() === "0,1,2,3,4",
    "destructuring": (r) => { const [first, , third] = r; return first.id === 0 && third.id === 2; },
    "Array.from": (r) => Array.from(r, (row) => row.id).join() === "0,1,2,3,4",
    "JSON": (r) => JSON.stringify({ r }) === '{"r":[{"id":0},{"id":1},{"id":2},{"id":3},{"id":4}]}',
    "keys": (r) => Object.keys(r).join() === "0,1,2,3,4" && Object.entries(r)[4][1].id === 4,
    "in": (r) => 0 in r && "4" in r && !(5 in r) && "length" in r && "map" in r,
    "own properties": (r) => r.hasOwnProperty(4) && Object.getOwnPropertyNames(r).includes("length"),
    "map gives an ordinary array": (r) => { const ids = r.map((row) => row.id); ids.push(9); return ids.join() === "0,1,2,3,4,9"; },
    "filter, find, some, every": (r) =>
      r.filter((row) => row.id > 2).length === 2 && r.find((row) => row.id === 3).id === 3 &&
      r.some((row) => row.id === 4) && r.every((row) => row.id < 5) && r.findIndex((row) => row.id === 2) === 2,
    "forEach gets the array": (r) => { let same = 0; r.forEach((row, i, all) => { if (all === r && row.id === i) same++; }); return same === 5; },
    "slice, concat, at": (r) => r.slice(1, 3)[1].id === 2 && r.concat([1]).length === 6 && r.at(-1).id === 4,
    "reduce": (r) => r.reduce((sum, row) => sum + row.id, 0) === 10,
    "flatMap, entries": (r) => r.flatMap((row) => [row.id, row.id]).length === 10 && [...r.entries()][4][1].id === 4,
    "toSorted": (r) => r.toSorted((a, b) => b.id - a.id)[0].id === 4,
  });
  check(null, {
    "writing throws": () => messageOf(() => { rows[0] = 1; }) === "SharedArray is immutable",
    "push throws": () => messageOf(() => rows.push(1)) === "SharedArray is immutable",
    "pop throws": () => messageOf(() => rows.pop()) === "SharedArray is immutable",
    "reverse throws": () => messageOf(() => rows.reverse()) === "SharedArray is immutable",
    "splice throws": () => messageOf(() => rows.splice(0, 1)) === "SharedArray is immutable",
    "shortening throws": () => messageOf(() => { rows.length = 0; }) === "SharedArray is immutable",
    "deleting throws": () => messageOf(() => { delete rows[0]; }) === "SharedArray is immutable",
    "defining throws": () => messageOf(() => Object.defineProperty(rows, "0", { value: 1 })) === "SharedArray is immutable",
    "adding throws": () => messageOf(() => { rows.extra = 1; }) !== "" && rows.extra === undefined,
    "still whole": () => rows.length === 5 && rows[0].id === 0,
    "a function is required": () => refused["no function"].includes("a function is expected"),
    "a name is required": () => refused["no name"].includes("empty name"),
    "an array is required": () => refused["no array"].includes("only arrays"),
    "async functions are refused": () => refused["async function"].includes("async"),
    "what the function throws passes through": () => passed === "from the script",
    "init only": () => messageOf(() => new SharedArray("late", () => [])).includes("init context"),
  });
}
