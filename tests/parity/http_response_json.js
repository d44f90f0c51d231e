// parity: console
// Paths into JSON documents.
import http from "k6/http";

export const options = { iterations: 1 };

const document = { a: { b: [1, 2, { c: "x" }] }, "d.e": 5, list: [{ n: 1, s: "one" }, { n: 2, s: "two" }], t: true, z: null, f: 1.5, big: 12345678901 };
const paths = ["a", "a.b", "a.b.1", "a.b.2.c", "a.b.#", "d\\.e", "list.#.n", 'list.#(s=="two").n', "list.#(n>0)#.s", "t", "z", "f", "big", "missing", "a.missing", "", "list.1", "list.-1", "@reverse", "list|0"];

export default function () {
  const response = http.post(`${__ENV.TARGET}/anything/x`, JSON.stringify(document), { headers: { "Content-Type": "application/json" } });
  for (const path of paths) {
    try {
      const value = response.json(path === "" ? "json" : `json.${path}`);
      console.log(path, typeof value, ["", "@reverse", "list|0", "list.1", "a.b.2"].includes(path) && value ? Object.keys(value).sort().join() : JSON.stringify(value));
    } catch (error) {
      console.log(path, error.name, error.message);
    }
  }
}
