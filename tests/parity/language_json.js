// parity: console
// JSON in and out.
export default function () {
  console.log(JSON.stringify({ a: [1, undefined, () => 1, NaN, -0], b: undefined, c: new Date(0), d: "é\u2028\ud800", e: 1e21 }));
  console.log(JSON.stringify({ a: 1, b: { c: 2 } }, null, 2), JSON.stringify([1], null, "--"), JSON.stringify({ a: 1, b: 2 }, ["b"]));
  console.log(JSON.stringify("x", (key, value) => value + "!"), JSON.parse('{"a": 1}', (key, value) => (key === "a" ? 5 : value)).a);
  for (const text of ["", "{", "[1,]", "01", "'a'", "undefined", '{"a":1}x']) {
    try {
      JSON.parse(text);
      console.log("parsed");
    } catch (error) {
      console.log(error.name);
    }
  }
}
