// parity: console
// Rows as lists and as objects, and what is refused.
import csv from "k6/experimental/csv";
import { open } from "k6/experimental/fs";

const path = import.meta.resolve("./lib/rows.csv");
const told = [];
for (const options of [{}, { asObjects: true }, { skipFirstLine: true }, { fromLine: 1, toLine: 2 }, { delimiter: ";" }, { delimiter: "ab" }, { fromLine: -1 }, { fromLine: 3, toLine: 1 }, { asObjects: true, skipFirstLine: true }, { unknown: 1 }, 5]) {
  try {
    told.push(JSON.stringify(await csv.parse(await open(path), options)));
  } catch (error) {
    told.push(`${JSON.stringify(options)} refused`);
  }
}

export const options = { iterations: 1 };

export default function () {
  told.forEach((line) => console.log(line));
}
