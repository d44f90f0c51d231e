// Rows of a file: all at once and shared, or one by one. Runs under k6 as well.
import { check } from "k6";
import csv, { parse, Parser } from "k6/experimental/csv";
import { open, SeekMode } from "k6/experimental/fs";

export const options = {
  scenarios: { each: { executor: "per-vu-iterations", vus: 2, iterations: 2 } },
  thresholds: { checks: ["rate==1"] },
};

const path = import.meta.resolve("./sample.csv");

// A file of its own each time: k6 reads on where the last call stopped.
const rows = async (options) => JSON.stringify(options ? await parse(await open(path), options) : await parse(await open(path)));

async function fails(action) {
  try {
    await action();
    return false;
  } catch {
    return true;
  }
}

const name = ["name", "age", "city"], anna = ["anna", "30", "New York"], bob = ["bob", "25", 'a "quoted" b'], carl = ["carl", "", "two\nlines"];
const people = await parse(await open(path));
const objects = await csv.parse(await open(path), { asObjects: true });
const wanted = {
  "all rows": [undefined, [name, anna, bob, carl]],
  "without the first": [{ skipFirstLine: true }, [anna, bob, carl]],
  "from a row on": [{ fromLine: 2 }, [bob, carl]],
  "from a row that is a text": [{ fromLine: "2" }, [bob, carl]],
  "up to a row": [{ toLine: 1 }, [name, anna]],
  "up to row 0 is all": [{ toLine: 0 }, [name, anna, bob, carl]],
  "a range": [{ fromLine: 1, toLine: 2 }, [anna, bob]],
  "a range beyond the end": [{ fromLine: 3, toLine: 20 }, [carl]],
  "both ways of leaving the first out": [{ fromLine: 1, skipFirstLine: true }, [anna, bob, carl]],
  "a range without the first": [{ toLine: 1, skipFirstLine: true }, [anna]],
  "from what is no number": [{ fromLine: "x" }, [name, anna, bob, carl]],
  "what is null": [{ toLine: null, skipFirstLine: null }, [name, anna, bob, carl]],
};
const found = {};
for (const [title, [options, expected]] of Object.entries(wanted)) found[title] = (await rows(options)) === JSON.stringify(expected);
const sample = await open(path);
const broken = import.meta.resolve("./broken.csv");
const refused = {
  "another delimiter": await fails(async () => parse(await open(path), { delimiter: ";" })),
  "delimiters of two characters": await fails(() => parse(sample, { delimiter: ";;" })),
  "delimiters beyond ASCII": await fails(() => parse(sample, { delimiter: "é" })),
  "a quote as delimiter": await fails(() => parse(sample, { delimiter: '"' })),
  "a negative row": await fails(() => parse(sample, { fromLine: -1 })),
  "an empty range": await fails(() => parse(sample, { fromLine: 2, toLine: 2 })),
  "objects without names": await fails(() => parse(sample, { asObjects: true, skipFirstLine: true })),
  "objects from a row on": await fails(() => parse(sample, { asObjects: true, fromLine: 1 })),
  "a row that is not there": await fails(async () => parse(await open(path), { fromLine: 20 })),
  "a bad row": await fails(async () => parse(await open(broken), { delimiter: ";" })),
  "what is no file": await fails(() => parse("sample.csv")),
  "an object that is no file": await fails(() => parse({ path })),
  "a parser of nothing": await fails(() => new Parser()),
  "a parser of text": await fails(() => new Parser("sample.csv")),
  "a parser with a bad delimiter": await fails(async () => new Parser(await open(path), { delimiter: "ab" })),
  "a parser behind the end": await fails(async () => new Parser(await open(path), { fromLine: 20 })),
};

const one = await open(path);
const parser = new Parser(one, { skipFirstLine: true, toLine: 2 });
const again = await open(path);
const endless = new Parser(again);
const named = new Parser(await open(path), { asObjects: true });
const bad = new Parser(await open(broken), { delimiter: ";" });
const next = async (parser) => JSON.stringify((await parser.next()).value);

export default async function () {
  check(found, Object.fromEntries(Object.keys(found).map((title) => [title, (f) => f[title]])));
  check(refused, Object.fromEntries(Object.keys(refused).map((title) => [`refused: ${title}`, (r) => r[title]])));
  check(people, {
    "a shared array": (p) => Array.isArray(p) && p.length === 4 && Array.isArray(p[0]) && p[0] !== p[0],
    "rows that cannot change": (p) => Object.isFrozen(p[0]) && [...p].length === 4,
    "objects": () => objects.length === 3 && objects[0].city === "New York" && objects[2].age === "",
    "objects with all names": () => Object.keys(objects[1]).sort().join() === "age,city,name",
  });
  if (__ITER > 0) return;
  const first = await parser.next();
  check(first, { "a row and whether it is the end": (f) => f.done === false && f.value.join() === anna.join() });
  check(await parser.next(), { "the next row": (r) => r.value.join() === bob.join() });
  check(await parser.next(), { "the end": (r) => r.done === true && Array.isArray(r.value) && r.value.length === 0 });
  check(await parser.next(), { "the end again": (r) => r.done === true });
  check([await next(named), await next(named), await next(named)], {
    "rows with names": (r) => JSON.parse(r[0]).name === "anna" && JSON.parse(r[1]).city === 'a "quoted" b' && JSON.parse(r[2]).city === "two\nlines",
  });
  check(await named.next(), { "no names at the end": (r) => r.done && Array.isArray(r.value) });

  const { next: detached } = endless;
  let count = 0;
  while (!(await detached()).done) count++;
  await again.seek(0, SeekMode.Start);
  check(await endless.next(), { "a file put back begins anew": (r) => count === 4 && r.value.join() === "name,age,city" });

  check(await bad.next(), { "rows before a bad one": (r) => r.value.join() === "a,b" });
  await bad.next();
  check(await fails(() => bad.next()), { "a row that is too short": (failed) => failed });
  check(await fails(() => bad.next()), { "a quote that is never closed": (failed) => failed });
  check(await bad.next(), { "the end of a bad file": (r) => r.done });
  check(await fails(async () => new Parser(one)), { "no parser is made in an iteration": (failed) => failed });
  check(await parse(one, { toLine: 1 }), { "parsing in an iteration": (r) => r.length === 2 });
}
