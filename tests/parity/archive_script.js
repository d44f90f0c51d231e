// parity: command archive
// parity: args -e OWN=1 --vus 2 --iterations 4
// What is in an archive.
import { count } from "./lib/counted.js";

const rows = open("./lib/rows.csv");

export const options = { tags: { a: "b" } };

export default function () {
  count(rows);
}
