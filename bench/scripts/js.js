// Plain JavaScript, one kind of work a run: what a script's own code costs. Each case returns a value that depends on all of its
// work and that is compared with the first iteration's, so no engine can skip it and a wrong result stops the run.
import exec from 'k6/execution';
import { closed, handleSummary } from './summary.js';

export const options = closed({ vus: 1 });
export { handleSummary };

// A small generator of its own: the same data in every engine.
let state = 12345;
function random(limit) {
  state = (state * 1103515245 + 12345) % 2147483648;
  return state % limit;
}

const people = [];
for (let i = 0; i < 200; i++) {
  people.push({ id: i, name: `person ${random(100000)}`, scores: [random(100), random(100), random(100)], active: i % 3 === 0 });
}
const json = JSON.stringify(people);

const rows = [];
for (let i = 0; i < 2000; i++) rows.push({ group: random(50), name: `n${random(1000000)}` });

const words = [];
for (let i = 0; i < 2000; i++) words.push(`key-${random(1500)}`);

const log = [];
for (let i = 0; i < 250; i++) log.push(`10.0.${random(256)}.${random(256)} - GET /item/${random(10000)}?q=${random(99)} ${200 + random(5)} ${random(9000)}ms`);
const text = log.join('\n');

const bytes = new Uint8Array(140 * 1024);
for (let i = 0; i < bytes.length; i++) bytes[i] = random(256);

const cases = {
  loop() {
    let sum = 0;
    for (let i = 0; i < 20000; i++) sum = (sum + i * (i & 7)) % 1000003;
    return sum;
  },
  parse() {
    const parsed = JSON.parse(json);
    return parsed.length + parsed[199].scores[2];
  },
  stringify() {
    return JSON.stringify(people).length;
  },
  sort() {
    const sorted = rows.slice().sort((a, b) => a.group - b.group || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return sorted[1000].name;
  },
  map() {
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) || 0) + 1);
    let sum = 0;
    for (const n of counts.values()) sum += n * n;
    return sum;
  },
  regex() {
    const pattern = /(\d+\.\d+\.\d+\.\d+) - (\w+) (\S+) (\d{3}) (\d+)ms/g;
    let sum = 0;
    for (let found = pattern.exec(text); found; found = pattern.exec(text)) sum += Number(found[5]) + found[3].length;
    return sum;
  },
  bytes() {
    let sum = 0;
    for (let i = 0; i < bytes.length; i++) sum = (sum * 31 + bytes[i]) % 1000003;
    return sum;
  },
};

const run = cases[__ENV.CASE];
let first;

export default function () {
  const result = run();
  if (first === undefined) first = result;
  if (result !== first || !result) exec.test.abort(`${__ENV.CASE} gave ${result} after ${first}`);
}
