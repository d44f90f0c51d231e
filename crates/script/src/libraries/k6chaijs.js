// k6chaijs: Chai's `expect`, each expectation a check, as scripts import it from
// https://jslib.k6.io/k6chaijs/VERSION/index.js.
import { check, group } from 'k6';

export class AssertionError extends Error {
  constructor(message, { actual, expected } = {}) {
    super(message);
    this.name = 'AssertionError';
    Object.assign(this, { actual, expected });
  }
}

const config = {
  // The value under test is not part of a check's name, so that there are as many checks as expectations.
  aggregateChecks: true,
  logFailures: false,
  truncateThreshold: 40,
  truncateMsgThreshold: 300,
  truncateVarThreshold: 100,
  includeStack: false,
  showDiff: false,
};

/** Runs a case as a group: `false` when an expectation did not hold or something was thrown, which is a check too. */
export function describe(name, run) {
  let passed = true;
  const failed = (error) => {
    passed = false;
    if (error instanceof AssertionError) {
      if (config.logFailures) console.warn(error.message);
    } else {
      console.error(`Exception raised "${error}". Failing the test and continuing. \n${error?.stack ?? ''}`);
      check(null, { [`Exception raised "${error}"`]: () => false });
    }
  };
  group(name, () => {
    try {
      const outcome = run();
      if (typeof outcome?.then === 'function') passed = outcome.then(() => true, (error) => (failed(error), false));
    } catch (error) {
      failed(error);
    }
  });
  return passed;
}

function cut(text, length) {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** A value as messages show it. */
function shown(value, depth = 0) {
  switch (typeof value) {
    case 'string':
      return `'${cut(value, config.truncateVarThreshold)}'`;
    case 'function':
      return `[Function${value.name ? `: ${value.name}` : ''}]`;
    case 'bigint':
      return `${value}n`;
    case 'object':
      break;
    default:
      return Object.is(value, -0) ? '-0' : String(value);
  }
  if (value === null) return 'null';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const isArray = Array.isArray(value);
  if (depth > 1) return isArray ? `Array(${value.length})` : '{…}';
  const list = isArray
    ? value.slice(0, 20).map((item) => shown(item, depth + 1))
    : Object.keys(value).slice(0, 20).map((key) => `${key}: ${shown(value[key], depth + 1)}`);
  if (isArray) return cut(`[ ${list.join(', ')} ]`, config.truncateVarThreshold);
  return list.length === 0 ? '{}' : cut(`{ ${list.join(', ')} }`, config.truncateVarThreshold);
}

function typeOf(value) {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return tag === 'Object' && typeof value === 'function' ? 'Function' : tag;
}

function deepEqual(left, right, seen = []) {
  if (Object.is(left, right)) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (typeOf(left) !== typeOf(right)) return false;
  if (seen.some(([one, other]) => one === left && other === right)) return true;
  const within = [...seen, [left, right]];
  if (left instanceof Date) return Object.is(left.getTime(), right.getTime());
  if (left instanceof RegExp) return String(left) === String(right);
  if (left instanceof Error) return left.name === right.name && left.message === right.message;
  if (left instanceof ArrayBuffer) return deepEqual(new Uint8Array(left), new Uint8Array(right), within);
  if (left instanceof Map) {
    return left.size === right.size && [...left].every(([key, value]) => right.has(key) && deepEqual(value, right.get(key), within));
  }
  if (left instanceof Set) {
    return left.size === right.size && [...left].every((one) => right.has(one) || [...right].some((other) => deepEqual(one, other, within)));
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    (!Array.isArray(left) || left.length === right.length) &&
    keys.every((key) => Object.hasOwn(right, key) && deepEqual(left[key], right[key], within));
}

/** The value at a path such as `a.b[0].c`, and whether it is there. */
function nested(value, path) {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  let holder = value;
  for (const [at, step] of steps.entries()) {
    if (holder === undefined || holder === null) return { has: false };
    if (at === steps.length - 1) return { has: step in Object(holder), value: holder[step] };
    holder = holder[step];
  }
  return { has: false };
}

class Assertion {
  constructor(actual, message, flags = {}) {
    this._obj = actual;
    this._message = message;
    this._flags = flags;
  }

  /** `text` and `inverted` say what was expected, with and without `not`. */
  assert(holds, text, inverted, expected) {
    const isNot = this._flags.not === true;
    const passed = isNot ? !holds : holds;
    const wanted = isNot ? inverted : text;
    const subject = this._message || (config.aggregateChecks ? '${this}' : shown(this._obj));
    const name = cut(`expected ${subject} ${wanted}`, config.truncateMsgThreshold);
    check(null, { [name]: () => passed });
    if (!passed) {
      const prefix = this._message ? `${this._message}: ` : '';
      throw new AssertionError(`${prefix}expected ${shown(this._obj)} ${wanted}`, { actual: this._obj, expected });
    }
    return this;
  }

  with_(flags) {
    return new Assertion(this._obj, this._message, { ...this._flags, ...flags });
  }

  of_(actual) {
    return new Assertion(actual, this._message, { ...this._flags });
  }

  same_(left, right) {
    return this._flags.deep ? deepEqual(left, right) : left === right;
  }

  deep_() {
    return this._flags.deep ? 'deep ' : '';
  }
}

const WORDS = ['to', 'be', 'been', 'is', 'that', 'which', 'and', 'has', 'have', 'with', 'at', 'of', 'same', 'but', 'does', 'still', 'also'];
const FLAGS = {
  not: { not: true },
  deep: { deep: true },
  nested: { nested: true },
  own: { own: true },
  ordered: { ordered: true },
  any: { any: true, all: false },
  all: { all: true, any: false },
  itself: {},
};

function getter(name, get) {
  Object.defineProperty(Assertion.prototype, name, { get, configurable: true });
}

WORDS.forEach((word) => getter(word, function () { return this; }));
Object.entries(FLAGS).forEach(([name, flags]) => getter(name, function () { return this.with_(flags); }));

/** What holds of a value or not: `expect(x).to.be.ok`, and with brackets too. */
const STATES = {
  ok: [(value) => Boolean(value), 'be truthy', 'be falsy'],
  true: [(value) => value === true, 'be true', 'be false'],
  false: [(value) => value === false, 'be false', 'be true'],
  null: [(value) => value === null, 'be null', 'not be null'],
  undefined: [(value) => value === undefined, 'be undefined', 'not be undefined'],
  NaN: [(value) => Number.isNaN(value), 'be NaN', 'not be NaN'],
  exist: [(value) => value !== undefined && value !== null, 'exist', 'not exist'],
  exists: [(value) => value !== undefined && value !== null, 'exist', 'not exist'],
  empty: [isEmpty, 'be empty', 'not be empty'],
  arguments: [(value) => typeOf(value) === 'Arguments', 'be arguments', 'not be arguments'],
  Arguments: [(value) => typeOf(value) === 'Arguments', 'be arguments', 'not be arguments'],
  extensible: [(value) => Object.isExtensible(value), 'be extensible', 'not be extensible'],
  sealed: [(value) => Object.isSealed(value), 'be sealed', 'not be sealed'],
  frozen: [(value) => Object.isFrozen(value), 'be frozen', 'not be frozen'],
  finite: [(value) => Number.isFinite(value), 'be a finite number', 'not be a finite number'],
};

for (const [name, [holds, text, inverted]] of Object.entries(STATES)) {
  getter(name, function () {
    return this.assert(holds(this._obj), `to ${text}`, `to ${inverted}`);
  });
}

function isEmpty(value) {
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  if (typeof value === 'string' || Array.isArray(value)) return value.length === 0;
  if (value === null || typeof value !== 'object') throw new TypeError(`.empty was passed ${shown(value)}`);
  return Object.keys(value).length === 0;
}

/** A method under all its names. */
function method(names, run) {
  for (const name of names) Assertion.prototype[name] = run;
}

/** A method that is also a word between others: `to.include.members`, `have.lengthOf.above`. */
function chainable(names, run, flags) {
  for (const name of names) {
    getter(name, function () {
      const chain = (...args) => run.apply(this, args);
      const next = this.with_(flags);
      return new Proxy(chain, { get: (_, key) => { const value = next[key]; return typeof value === 'function' ? value.bind(next) : value; } });
    });
  }
}

chainable(['a', 'an'], function (type) {
  const article = /^[aeiou]/i.test(type) ? 'an' : 'a';
  return this.assert(typeOf(this._obj).toLowerCase() === String(type).toLowerCase(), `to be ${article} ${type}`, `not to be ${article} ${type}`);
}, {});

chainable(['include', 'includes', 'contain', 'contains'], function (item) {
  const value = this._obj;
  let holds;
  if (typeof value === 'string') holds = value.includes(item);
  else if (value instanceof Set) holds = [...value].some((one) => this.same_(one, item));
  else if (value instanceof Map) holds = [...value.values()].some((one) => this.same_(one, item));
  else if (Array.isArray(value) || ArrayBuffer.isView(value)) holds = [...value].some((one) => this.same_(one, item));
  else if (item !== null && typeof item === 'object' && value !== null && value !== undefined) {
    holds = Object.keys(item).every((key) => {
      if (this._flags.nested) return this.same_(nested(value, key).value, item[key]);
      return (this._flags.own ? Object.hasOwn(value, key) : key in Object(value)) && this.same_(value[key], item[key]);
    });
  } else throw new TypeError(`include expects a string, an array, a Map, a Set or an object, found ${shown(value)}`);
  return this.assert(holds, `to ${this.deep_()}include ${shown(item)}`, `to not ${this.deep_()}include ${shown(item)}`, item);
}, { contains: true });

chainable(['length', 'lengthOf'], function (wanted) {
  const length = lengthOf(this._obj);
  return this.assert(length === wanted, `to have a length of ${wanted} but got ${length}`, `to not have a length of ${wanted}`, wanted);
}, { length: true });

function lengthOf(value) {
  return value instanceof Map || value instanceof Set ? value.size : value?.length;
}

method(['equal', 'equals', 'eq'], function (wanted) {
  if (this._flags.deep) return this.eql(wanted);
  return this.assert(this._obj === wanted, `to equal ${shown(wanted)}`, `to not equal ${shown(wanted)}`, wanted);
});
method(['eql', 'eqls'], function (wanted) {
  return this.assert(deepEqual(this._obj, wanted), `to deeply equal ${shown(wanted)}`, `to not deeply equal ${shown(wanted)}`, wanted);
});

/** A comparison of the value, or with `lengthOf` in front of its length. */
function comparison(names, holds, text, inverted) {
  method(names, function (...bounds) {
    const value = this._flags.length ? lengthOf(this._obj) : this._obj;
    const what = this._flags.length ? 'have a length ' : 'be ';
    const wanted = bounds.map((bound) => shown(bound)).join('..');
    return this.assert(holds(value, ...bounds), `to ${what}${text} ${wanted}`, `to ${what}${inverted} ${wanted}`, bounds[0]);
  });
}
comparison(['above', 'gt', 'greaterThan'], (value, bound) => value > bound, 'above', 'at most');
comparison(['least', 'gte', 'greaterThanOrEqual'], (value, bound) => value >= bound, 'at least', 'below');
comparison(['below', 'lt', 'lessThan'], (value, bound) => value < bound, 'below', 'at least');
comparison(['most', 'lte', 'lessThanOrEqual'], (value, bound) => value <= bound, 'at most', 'above');
comparison(['within'], (value, low, high) => value >= low && value <= high, 'within', 'not within');

method(['instanceof', 'instanceOf'], function (type) {
  const name = type.name || 'an unnamed class';
  return this.assert(this._obj instanceof type, `to be an instance of ${name}`, `to not be an instance of ${name}`);
});
method(['property'], function (name, ...wanted) {
  const { own, nested: isPath, deep } = this._flags;
  const value = this._obj;
  const found = isPath ? nested(value, name) : {
    has: own ? Object.hasOwn(Object(value), name) : value !== null && value !== undefined && name in Object(value),
    value: value?.[name],
  };
  const what = `${deep ? 'deep ' : ''}${own ? 'own ' : ''}${isPath ? 'nested ' : ''}property ${shown(name)}`;
  if (wanted.length === 0) this.assert(found.has, `to have ${what}`, `to not have ${what}`);
  else {
    const of = `${what} of ${shown(wanted[0])}`;
    this.assert(found.has && this.same_(found.value, wanted[0]), `to have ${of}, but got ${shown(found.value)}`, `to not have ${of}`, wanted[0]);
  }
  return this.of_(found.value);
});
method(['ownProperty', 'haveOwnProperty'], function (...args) {
  return this.with_({ own: true }).property(...args);
});
method(['match', 'matches'], function (pattern) {
  return this.assert(pattern.test(this._obj), `to match ${pattern}`, `not to match ${pattern}`);
});
method(['string'], function (text) {
  return this.assert(typeof this._obj === 'string' && this._obj.includes(text), `to contain ${shown(text)}`, `to not contain ${shown(text)}`);
});
method(['keys', 'key'], function (...args) {
  const wanted = args.flatMap((arg) => (Array.isArray(arg) ? arg : arg !== null && typeof arg === 'object' ? Object.keys(arg) : [arg]));
  const value = this._obj;
  const has = value instanceof Map || value instanceof Set ? [...value.keys()] : Object.keys(value);
  const isKnown = (key) => has.some((one) => (typeof key === 'object' ? this.same_(one, key) : String(one) === String(key)));
  const isEach = wanted.every(isKnown) && (this._flags.contains || has.length === wanted.length);
  const list = wanted.map((key) => shown(key)).join(this._flags.any ? ', or ' : ', and ');
  const what = `${this._flags.contains ? 'contain' : 'have'} ${wanted.length > 1 ? 'keys' : 'key'} ${list}`;
  return this.assert(this._flags.any ? wanted.some(isKnown) : isEach, `to ${what}`, `to not ${what}`);
});
method(['throw', 'throws', 'Throw'], function (kind, pattern) {
  let thrown;
  let hasThrown = false;
  try {
    this._obj();
  } catch (error) {
    [thrown, hasThrown] = [error, true];
  }
  const isText = typeof kind === 'string' || kind instanceof RegExp;
  const wanted = isText ? kind : pattern;
  const message = typeof thrown === 'object' && thrown !== null ? String(thrown.message) : String(thrown);
  const isOfKind = isText || kind === undefined || (typeof kind === 'function' ? thrown instanceof kind : thrown === kind);
  const fits = wanted === undefined || (wanted instanceof RegExp ? wanted.test(message) : message.includes(wanted));
  const what = typeof kind === 'function' ? kind.name : 'an error';
  const text = wanted === undefined ? what : `${what} that matches ${shown(wanted)}`;
  this.assert(hasThrown && isOfKind && fits, `to throw ${text}${hasThrown ? ` but ${shown(thrown)} was thrown` : ''}`, `to not throw ${text}`);
  return this.of_(thrown);
});
method(['respondTo', 'respondsTo'], function (name) {
  const holder = typeof this._obj === 'function' && this._obj.prototype ? this._obj.prototype : this._obj;
  return this.assert(typeof holder?.[name] === 'function', `to respond to ${shown(name)}`, `to not respond to ${shown(name)}`);
});
method(['satisfy', 'satisfies'], function (holds) {
  return this.assert(Boolean(holds(this._obj)), `to satisfy ${shown(holds)}`, `to not satisfy ${shown(holds)}`);
});
method(['closeTo', 'approximately'], function (wanted, delta) {
  return this.assert(Math.abs(this._obj - wanted) <= delta, `to be close to ${wanted} +/- ${delta}`, `not to be close to ${wanted} +/- ${delta}`);
});
method(['members'], function (wanted) {
  const { contains, ordered } = this._flags;
  const left = [...wanted];
  let holds;
  if (ordered) {
    holds = (contains || this._obj.length === left.length) && left.every((one, at) => this.same_(this._obj[at], one));
  } else {
    const rest = [...this._obj];
    holds = (contains || rest.length === left.length) && left.every((one) => {
      const at = rest.findIndex((other) => this.same_(other, one));
      if (at >= 0 && !contains) rest.splice(at, 1);
      return at >= 0;
    });
  }
  const what = `${contains ? 'be a superset of' : 'have the same members as'} ${shown(wanted)}`;
  return this.assert(holds, `to ${what}`, `to not ${what}`, wanted);
});
method(['oneOf'], function (list) {
  const holds = this._flags.contains
    ? list.some((one) => this._obj.includes(one))
    : list.some((one) => this.same_(this._obj, one));
  return this.assert(holds, `to be one of ${shown(list)}`, `to not be one of ${shown(list)}`, list);
});

/** What a function does to a property, or to what a getter gives. */
function changing(names, holds, word) {
  method(names, function (subject, property) {
    const read = () => (property === undefined ? subject() : subject[property]);
    const before = read();
    this._obj();
    const after = read();
    const what = property === undefined ? shown(subject) : `.${property}`;
    const next = this.assert(holds(before, after), `${what} to ${word}`, `${what} to not ${word}`);
    return Object.assign(next.of_(after - before), { by: (delta) => next.assert(Math.abs(after - before) === Math.abs(delta), `${what} to ${word} by ${delta}`, `${what} to not ${word} by ${delta}`) });
  });
}
changing(['change', 'changes'], (before, after) => before !== after, 'change');
changing(['increase', 'increases'], (before, after) => after > before, 'increase');
changing(['decrease', 'decreases'], (before, after) => after < before, 'decrease');

method(['validJsonBody'], function () {
  let isValid = true;
  try {
    this._obj.json();
  } catch {
    isValid = false;
  }
  return this.assert(isValid, 'to have valid json body', 'to not have valid json body');
});

/** `message` names the value in checks and errors. */
export function expect(value, message) {
  return new Assertion(value, message);
}
expect.fail = (message = 'expect.fail()') => {
  check(null, { [message]: () => false });
  throw new AssertionError(message);
};

/** Chai itself, for its plugins and settings. */
export const chai = {
  expect,
  config,
  Assertion,
  AssertionError,
  version: '4.5.0',
  util: { inspect: shown, eql: deepEqual, type: typeOf, flag: (assertion, name) => assertion._flags[name] },
  use(plugin) {
    plugin(chai, chai.util);
    return chai;
  },
};
Assertion.addMethod = (name, run) => method([name], function (...args) { return run.apply(this, args) ?? this; });
Assertion.addProperty = (name, get) => getter(name, function () { return get.call(this) ?? this; });

export { Assertion, config };
export default chai;
