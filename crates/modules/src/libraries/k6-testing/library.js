// Expectations about values, as functional tests have them. The matchers of browser pages are not here: there is no
// browser. VERSION is 1 for 0.1.0, and so on to 6 for 0.6.0, and 7 for 0.6.1.
import exec from 'k6/execution';

const CODES = {
  reset: 0, black: 30, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36, white: 37, brightBlack: 90, brightRed: 91,
  brightGreen: 92, brightYellow: 93, brightBlue: 94, brightMagenta: 95, brightCyan: 96, brightWhite: 97, darkGrey: 90,
};

function colorize(text, color) {
  const code = color in CODES ? `\x1b[${CODES[color]}m` : undefined;
  return `${code}${text}\x1b[0m`;
}

class AssertionFailedError extends Error {
  constructor(message) {
    super(message);
    this.name = 'AssertionFailedError';
  }
}

/** What becomes of an expectation that does not hold: the test ends, the iteration fails, or the test is marked as failed. */
function assert(holds, message, isSoft, softMode = 'throw') {
  if (holds) return;
  if (!isSoft) exec.test.abort(message);
  else if (VERSION >= 5 && softMode === 'fail') exec.test.fail(message);
  else throw new AssertionFailedError(message);
}

const words = (allowed) => (name, value) => {
  const word = value.toLowerCase();
  if (!allowed.includes(word)) throw new Error(`Invalid value for ${name}. Must be one of: ${allowed.join(', ')}`);
  return word;
};

function positive(name, value) {
  const number = Number(value);
  if (!value) throw new Error(`Environment variable ${name} is not set`);
  if (!Number.isFinite(number)) throw new Error(`Environment variable ${name} must be a valid number, got: ${value}`);
  if (number < 0) throw new Error(`Environment variable ${name} must be a non-negative number, got: ${value}`);
  return number;
}

const FROM_ENVIRONMENT = [
  ['colorize', 'K6_TESTING_COLORIZE', (_, value) => value.toLowerCase() !== 'false'],
  ['display', 'K6_TESTING_DISPLAY', words(['inline', 'pretty'])],
  ['timeout', 'K6_TESTING_TIMEOUT', positive],
  ['interval', 'K6_TESTING_INTERVAL', positive],
  ...(VERSION >= 5 ? [['softMode', 'K6_TESTING_SOFT_MODE', words(['throw', 'fail'])]] : []),
];

function configuration(given) {
  const config = { timeout: 5000, interval: 100, soft: false };
  if (VERSION >= 5) config.softMode = VERSION >= 7 ? 'fail' : 'throw';
  Object.assign(config, { colorize: true, display: 'pretty', assertFn: assert }, given);
  for (const [key, name, read] of FROM_ENVIRONMENT) if (__ENV[name] !== undefined) config[key] = read(name, __ENV[name]);
  return config;
}

/** Where the expectation stands in the script: the first place outside of this file. */
function place() {
  for (const line of new Error().stack.split('\n')) {
    const found = /(?:\(|at )(?:file:\/\/)?([^()]+):(\d+):(\d+)/.exec(line);
    if (found && !found[1].includes('/k6-testing/') && !found[1].includes('jslib.k6.io')) {
      return { at: `${found[1]}:${found[2]}:${found[3]}`, file: found[1].split('/').pop(), line: found[2] };
    }
  }
  return { at: 'unknown location', file: '', line: '0' };
}

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const receivedText = (value) => (VERSION >= 6 ? text(value) : JSON.stringify(value));

/** The message: labels with values, in groups. */
function message(name, rows, { config, custom, named }) {
  const color = (value, by) => (config.colorize ? colorize(value, by) : `${value}`);
  const grey = (value) => color(value, 'darkGrey');
  const parts = named.length === 0 ? grey('()') : `${grey('(')}${named.map(([word, by]) => color(word, by)).join(grey(', '))}${grey(')')}`;
  const call = `${grey('expect(')}${color('received', 'red')}${grey(').')}${color(name, 'white')}${parts}`;
  const isShown = typeof custom === 'string' && (VERSION >= 6 || (VERSION >= 3 && name !== 'toBe'));
  const title = isShown ? color(custom, 'white') : call;
  const where = place();
  const groups = [
    [['Error', title], ['At', grey(where.at)]],
    rows.map(([label, value, by, before = '']) => [label, before + (by ? color(value, by) : value)]),
    [['Filename', grey(where.file)], ['Line', grey(where.line)]],
  ];
  if (config.display === 'inline') {
    const quoted = (value) => (value.includes(' ') ? `"${value}"` : value);
    return groups.flat().map(([label, value]) => `${label.toLowerCase().replace(/\s+/g, '_')}=${quoted(value)}`).join(' ');
  }
  if (config.display !== 'pretty') throw new Error(`Unknown display format: ${config.display}`);
  const width = Math.max(...groups.flat().map(([label]) => label.length));
  const lines = (group) => group.map(([label, value]) => `${label.padStart(width)}: ${value}`).join('\n');
  return `\n\n${groups.map(lines).join('\n\n')}\n\n`;
}

/** Equal in all that can be listed, whatever made it. */
function areEqual(one, other) {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return false;
  const keys = Object.keys(one), others = Object.keys(other);
  return keys.length === others.length && keys.every((key) => others.includes(key) && areEqual(one[key], other[key]));
}

/** The parts of a path like `a.b[2]`. */
function partsOf(path) {
  const parts = [];
  let part = '', isIndex = false;
  const end = () => {
    if (part) parts.push(part);
    part = '';
  };
  for (const letter of path) {
    if (letter === '.' && !isIndex) end();
    else if (letter === '[') {
      end();
      isIndex = true;
    } else if (letter === ']') {
      if (!isIndex) return undefined;
      parts.push(part);
      part = '';
      isIndex = false;
    } else part += letter;
  }
  end();
  return parts;
}

/** What is at a path, in a list; empty where nothing is. */
function at(object, path) {
  const parts = path === '' ? undefined : partsOf(path);
  if (parts === undefined) return [];
  let here = object;
  for (const part of parts) {
    if (here === null || here === undefined) return [];
    if (!Number.isNaN(Number(part))) {
      if (!Array.isArray(here) || Number(part) >= here.length) return [];
      here = here[Number(part)];
    } else {
      if (typeof here !== 'object' || !Object.hasOwn(here, part)) return [];
      here = here[part];
    }
  }
  return [here];
}

/** What a matcher says in its brackets. */
const NONE = [], EXPECTED = [['expected', 'green']];

/** A matcher without an operand: its message has what was received. */
const alone = (test) => ({ named: NONE, test, rows: (received) => [['Received', receivedText(JSON.stringify(received)), 'red']] });

/** A matcher with an operand. */
const against = (test, { sign = '', words: [wanted, found] = ['Expected', 'Received'], show = (value) => value } = {}) => ({
  named: EXPECTED,
  test,
  rows: (received, expected) => [
    [wanted, text(show(expected)), 'green', sign],
    [found, receivedText(show(received)), 'red'],
  ],
});

const json = (value) => JSON.stringify(value);
const tolerance = (received, expected, precision) => Math.pow(10, -precision) * Math.max(Math.abs(received), Math.abs(expected));

function kindOf(received, name, kinds) {
  if (typeof received === 'string' && kinds.startsWith('strings')) return 'string';
  if (Array.isArray(received)) return 'array';
  if (received instanceof Set) return 'set';
  throw new Error(`${name} is only supported for ${kinds}`);
}

/** A matcher for what is in a collection. */
const inside = (name, kinds, label, test) => ({
  named: EXPECTED,
  check: (received) => kindOf(received, name, kinds),
  test: (received, expected) => (typeof received === 'string' ? received.includes(expected) : test([...received], expected)),
  rows: (received, expected, isNegated) => [
    [isNegated ? `Expected not to ${label}` : `Expected to ${label}`, text(expected), 'green'],
    [`Received ${kindOf(received, name, kinds)}`, receivedText(received), 'red'],
  ],
});

const MATCHERS = {
  toBe: against(Object.is),
  toBeCloseTo: {
    named: [['expected', 'green'], ['precision', 'white']],
    test: (received, expected, precision = 2) => Math.abs(received - expected) < tolerance(received, expected, precision),
    rows: (received, expected, _, precision = 2) => [
      ['Expected precision', precision.toString(), 'green'],
      ['Expected difference', `${tolerance(received, expected, precision)}`, 'green', '< '],
      ['Received difference', `${Math.abs(received - expected)}`, 'red'],
    ],
  },
  toBeDefined: alone((received) => received !== undefined),
  toBeFalsy: alone((received) => !received),
  toBeGreaterThan: against((received, expected) => received > expected, { sign: '> ' }),
  toBeGreaterThanOrEqual: against((received, expected) => received >= expected, { sign: '>= ' }),
  toBeInstanceOf: {
    named: EXPECTED,
    check: (received) => received.constructor.name,
    test: (received, expected) => received instanceof expected,
    rows: (received, expected) => [
      ['Expected constructor', text(expected.name), 'green'],
      ['Received constructor', receivedText(received.constructor.name), 'red'],
    ],
  },
  toBeLessThan: against((received, expected) => received < expected, { sign: '< ' }),
  toBeLessThanOrEqual: against((received, expected) => received <= expected, { sign: '<= ' }),
  toBeNaN: alone((received) => isNaN(received)),
  toBeNull: alone((received) => received === null),
  toBeTruthy: alone((received) => !!received),
  toBeUndefined: alone((received) => received === undefined),
  toEqual: against(areEqual, { show: json }),
  toHaveLength: {
    named: EXPECTED,
    check: (received) => received.length.toString(),
    test: (received, expected) => received.length === expected,
    rows: (received, expected) => [
      ['Expected length', expected.toString(), 'green'],
      ['Received length', receivedText(received.length.toString()), 'red'],
      ['Received array', undefined, 'red'],
    ],
  },
  toContain: inside('toContain', 'strings, arrays, and sets', 'contain', (all, expected) => all.includes(expected)),
  toContainEqual: inside('toContainEqual', 'arrays and sets', 'contain equal', (all, expected) => all.some((one) => areEqual(one, expected))),
  toHaveProperty: {
    named: [['keyPath', 'white'], ['expected?', 'green']],
    check: (received) => {
      if (typeof received !== 'object' || received === null) throw new Error('toHaveProperty is only supported for objects');
    },
    test: (received, path, expected) => {
      const found = at(received, path);
      return found.length === 1 && (expected === undefined || areEqual(found[0], expected));
    },
    rows: (received, path, isNegated, expected) => {
      const not = isNegated ? 'not to' : 'to';
      const wanted = expected === undefined ? [`Expected property ${not} exist`, ''] : [`Expected property ${not} equal`, text(expected), 'green'];
      return [['Property path', path, 'white'], wanted, ['Received object', receivedText(received), 'red']];
    },
  },
};
const FIRST_IN_THIRD = ['toContain', 'toContainEqual', 'toHaveProperty'];

/** The matchers for one value. */
function expectations(received, config, custom, isNegated) {
  const all = {};
  if (VERSION >= 3) {
    const not = () => expectations(received, config, custom, !isNegated);
    Object.defineProperty(all, 'not', { get: not, enumerable: true, configurable: true });
  }
  for (const [name, { named, check, test, rows }] of Object.entries(MATCHERS)) {
    if (VERSION < 3 && FIRST_IN_THIRD.includes(name)) continue;
    all[name] = (expected, further) => {
      check?.(received);
      if (test(received, expected, further) !== isNegated) return;
      const shown = message(name, rows(received, expected, isNegated, further), { config, custom, named });
      (config.assertFn ?? assert)(false, shown, config.soft, ...(VERSION >= 5 ? [config.softMode] : []));
    };
  }
  return all;
}

function make(given) {
  const config = configuration(given);
  const expect = (value, custom) => expectations(value, config, custom, false);
  const soft = (value, custom) => expectations(value, { ...config, soft: true }, custom, false);
  Object.assign(expect, { soft, configure: make });
  if (VERSION >= 2) Object.defineProperty(expect, 'config', { get: () => ({ ...config }), enumerable: true });
  return expect;
}

const expect = make({});
export { colorize, expect };
