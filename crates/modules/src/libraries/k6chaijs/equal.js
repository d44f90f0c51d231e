// Deep equality: `eql`, `deep.equal` and all that `deep` changes.

const byReference = ['Promise', 'Symbol', 'function', 'WeakMap', 'WeakSet'];
const bySteps = ['Arguments', 'Array', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
  'Uint32Array', 'Float32Array', 'Float64Array'];
const asValues = ['String', 'Number', 'Boolean', 'Date'];
// Later versions compare errors by what they say, and see properties whose names are symbols.
const seesMore = VERSION > 42;

const isPlain = (value) => value === null || typeof value !== 'object';

/** What needs no look inside; undefined for two objects. +0 and -0 differ, NaN is equal to itself. */
function plainEqual(left, right) {
  if (left === right) return left !== 0 || 1 / left === 1 / right;
  if (Number.isNaN(left) && Number.isNaN(right)) return true;
  return isPlain(left) || isPlain(right) ? false : undefined;
}

/** Pairs of objects whose outcome is known, or taken for equal while they are compared. */
class Pairs {
  constructor() {
    this.known = new WeakMap();
  }

  get(left, right) {
    return this.known.get(left)?.get(right) ?? this.known.get(right)?.get(left);
  }

  set(left, right, outcome) {
    if (isPlain(left) || isPlain(right)) return outcome;
    if (!this.known.has(left)) this.known.set(left, new WeakMap());
    this.known.get(left).set(right, outcome);
    return outcome;
  }
}

/** `options.comparator` is asked first and may leave a pair to the rules. */
function eql(left, right, options) {
  const { comparator } = options ?? {};
  return equal(left, right, { comparator, pairs: new Pairs() });
}

function equal(left, right, search) {
  const { comparator, pairs } = search;
  if (!comparator) {
    const plain = plainEqual(left, right);
    if (plain !== undefined) return plain;
  }
  const known = isPlain(left) || isPlain(right) ? undefined : pairs.get(left, right);
  if (known !== undefined) return known;
  if (comparator) {
    const outcome = comparator(left, right);
    if (outcome === true || outcome === false) return pairs.set(left, right, outcome);
    const plain = plainEqual(left, right);
    if (plain !== undefined) return plain;
  }
  const kind = type(left);
  if (kind !== type(right)) return pairs.set(left, right, false);
  pairs.set(left, right, true);
  return pairs.set(left, right, equalInside(left, right, kind, search));
}

function equalInside(left, right, kind, search) {
  if (asValues.includes(kind)) return eql(left.valueOf(), right.valueOf());
  if (byReference.includes(kind)) return left === right;
  if (bySteps.includes(kind)) return equalLists(left, right, search);
  switch (kind) {
    case 'Error':
      return seesMore ? ['name', 'message', 'code'].every((key) => equal(left[key], right[key], search)) : left === right;
    case 'RegExp':
      return left.toString() === right.toString();
    case 'Generator':
      return equalLists(drained(left), drained(right), search);
    case 'DataView':
      return equalLists(new Uint8Array(left.buffer), new Uint8Array(right.buffer), search);
    case 'ArrayBuffer':
      return equalLists(new Uint8Array(left), new Uint8Array(right), search);
    case 'Map':
    case 'Set':
      return equalEntries(left, right, search);
    default:
      return equalObjects(left, right, search);
  }
}

function equalLists(left, right, search) {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) {
    if (!equal(left[at], right[at], search)) return false;
  }
  return true;
}

/** In the order of their texts: maps and sets have none. */
function equalEntries(left, right, search) {
  if (left.size !== right.size) return false;
  const entries = (collection) => {
    const all = [];
    collection.forEach((value, key) => all.push([value, key]));
    return all.sort();
  };
  return left.size === 0 || equalLists(entries(left), entries(right), search);
}

/** All values of an iterator, and the one that comes with its end. */
function drained(iterator) {
  const all = [];
  for (;;) {
    const { value, done } = iterator.next();
    all.push(value);
    if (done !== false) return all;
  }
}

function iterated(object) {
  if (typeof object[Symbol.iterator] !== 'function') return [];
  try {
    return drained(object[Symbol.iterator]());
  } catch {
    return [];
  }
}

/** Enumerable properties, inherited ones too. */
function keysIn(object) {
  const keys = [];
  for (const key in object) keys.push(key);
  return seesMore ? keys.concat(getOwnEnumerablePropertySymbols(object)) : keys;
}

function equalObjects(left, right, search) {
  const [keys, others] = [keysIn(left), keysIn(right)];
  if (keys.length > 0 && keys.length === others.length) {
    const sorted = (list) => list.map(String).sort();
    const [names, otherNames] = [sorted(keys), sorted(others)];
    return names.every((name, at) => name === otherNames[at]) && keys.every((key) => equal(left[key], right[key], search));
  }
  const [items, otherItems] = [iterated(left), iterated(right)];
  if (items.length > 0 && items.length === otherItems.length) return equalLists(items.sort(), otherItems.sort(), search);
  return keys.length + others.length + items.length + otherItems.length === 0;
}

function getOwnEnumerablePropertySymbols(object) {
  return Object.getOwnPropertySymbols(object).filter((key) => Object.getOwnPropertyDescriptor(object, key).enumerable);
}

const getOwnEnumerableProperties = (object) => Object.keys(object).concat(getOwnEnumerablePropertySymbols(object));
