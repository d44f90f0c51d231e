// parity: console
// The same file read twice: the second finds its end.
import csv from "k6/experimental/csv";
import { open } from "k6/experimental/fs";

const file = await open(import.meta.resolve("./lib/rows.csv"));
const first = await csv.parse(file);
let second;
try {
  second = (await csv.parse(file)).length;
} catch (error) {
  second = "refused";
}

export const options = { iterations: 1 };

export default function () {
  console.log(first.length, second);
}
