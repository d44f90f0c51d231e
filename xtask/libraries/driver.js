// Calls of a library with generated arguments, one line each: export, arguments, outcome. Lines in front define `subject`, SEED
// and COUNT, and the calls of the library, as `calls`. The same seed makes the same calls in every engine.
import exec from 'k6/execution';
import { group } from 'k6';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

let random = numbers(SEED);
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];
const chance = (share) => random() < share;
const many = (most, make) => Array.from({ length: below(most + 1) }, (_, at) => make(at));
const word = (letters, most) => many(most, () => pick([...letters])).join('');

/** Values that are seldom what a function expects. Made anew each time, since functions change them. */
const EDGES = [
  () => undefined, () => null, () => '', () => NaN, () => 0, () => -0, () => -1, () => 1, () => 2.5, () => 1e21, () => Infinity, () => -Infinity,
  () => true, () => false, () => 'a', () => 'ünïcode ☃ 🦀', () => '0', () => '12', () => ' ', () => '\n', () => "it's \"quoted\"", () => 'x'.repeat(90),
  () => [], () => [1, 2, 3], () => ['a', 'b'], () => [[1], [2, [3]]], () => [undefined, null, NaN], () => ({}), () => ({ a: 1 }),
  () => ({ a: { b: [1, { c: 2 }] }, 'd e': null }), () => ({ length: 2 }), () => new Date(86400000), () => /a+b/gi, () => new Map([['a', 1], ['b', { c: 2 }]]),
  () => new Set([1, 'a', NaN]), () => new Error('an error'), () => new TypeError('a type'), () => function named(one) { return one; }, () => (one) => one,
  () => class Thing {}, () => Symbol('sign'), () => 12345678901234567890n, () => new Uint8Array([1, 2, 255]), () => Object.create(null),
];
const any = () => pick(EDGES)();

/** A value as text, in the same way in every engine. */
function render(value, depth = 0) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return `Symbol(${value.description})`;
  if (typeof value === 'function') return 'function';
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? '-0' : String(value);
  if (depth > 6) return '…';
  const inner = (one) => render(one, depth + 1);
  if (value instanceof Error) return `${errorText(value)} ${inner({ ...value, stack: undefined, message: undefined, name: undefined })}`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof ArrayBuffer) return `buffer ${inner([...new Uint8Array(value)])}`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return `bytes ${inner([...value])}`;
  if (value instanceof Map) return `Map ${inner([...value])}`;
  if (value instanceof Set) return `Set ${inner([...value])}`;
  if (Array.isArray(value)) return `[${Array.from(value, inner).join(', ')}]`;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${inner(value[key])}`).join(', ')}}`;
}

/** The words of errors that the engine makes are the engine's. */
function errorText(error) {
  if (!(error instanceof Error)) return render(error);
  const isEngine = [TypeError, RangeError, SyntaxError, ReferenceError].some((kind) => Object.getPrototypeOf(error) === kind.prototype);
  return isEngine && !error.isOurs ? error.name : `${error.name}: ${error.message}`;
}

let lines = 0;

/** One call: `run` gets what `make` made. Its result, or what it throws, is the outcome; promises are waited for. */
async function call(name, make, run) {
  const args = make();
  const shown = render(args);
  let outcome;
  try {
    const value = run(...args);
    outcome = value instanceof Promise ? `promise of ${render(await value)}` : render(value);
  } catch (error) {
    outcome = `throws ${errorText(error)}`;
  }
  lines += 1;
  console.log(JSON.stringify([name, shown, outcome]));
}

export const options = typeof settings === 'undefined' ? { iterations: 1 } : settings;

export default async function () {
  console.log(JSON.stringify(['exports', '', Object.keys(subject).sort().join()]));
  for (const [name, { count = COUNT, make, run, isGroup }] of Object.entries(calls())) {
    random = numbers(SEED + name.length * 7919 + name.charCodeAt(0));
    for (let at = 0; at < count; at += 1) {
      if (!isGroup) await call(name, make, run);
      else group(`${name} ${at}`, () => void call(name, make, run));
    }
  }
  if (typeof isEndless !== 'undefined') exec.test.abort();
}

/** Groups, checks and metrics, a line each. */
export function handleSummary(data) {
  const out = [];
  const walk = ({ path, name, checks, groups }) => {
    for (const { name: check, passes, fails } of checks) out.push(['check', path ?? name, `${check} ${passes}/${fails}`]);
    groups.forEach(walk);
  };
  walk(data.root_group);
  for (const [name, { type, values }] of Object.entries(data.metrics)) {
    if (/^(data_|iteration|vus|http_|group_duration)/.test(name) || type === 'trend') continue;
    const sorted = Object.entries(values).filter(([key]) => type !== 'counter' || key !== 'rate').sort();
    out.push(['metric', name, render(sorted)]);
  }
  return { stdout: `${out.map((line) => JSON.stringify(line)).join('\n')}\n` };
}
