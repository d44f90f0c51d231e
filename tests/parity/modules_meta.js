// parity: console
// import.meta.
const told = [];
for (const name of ["./lib/rows.csv", "../x.js", "/a/b.js", "k6/http", "https://a.test/x.js", "", 5, undefined]) {
  try {
    told.push(import.meta.resolve(name).replace(/file:.*\/tests\//, "TESTS/"));
  } catch (error) {
    told.push(`${name} ${error.name}`);
  }
}

export const options = { iterations: 1 };

export default function () {
  told.forEach((line) => console.log(line));
  console.log(Object.keys(import.meta).join());
}
