// What assertions ask of values: their type, their name, the end of a path, whether an error is of a kind.
// The names are those of `chai.util`, which plug-ins use. VERSION is the version: 40 to 43 for
// 4.3.4.0 to 4.3.4.3, 50 and 51 for 4.5.0.0 and 4.5.0.1.

/** The type as `a('…')` takes it: `typeof` of what is no object, else the tag or the name of the built-in class. */
function type(value) {
  if (typeof value !== 'object') return typeof value;
  if (value === null) return 'null';
  if (value === globalThis) return 'global';
  if (Array.isArray(value) && !(Symbol.toStringTag in value)) return 'Array';
  const tag = value[Symbol.toStringTag];
  if (typeof tag === 'string') return tag;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null) return 'Object';
  const known = [RegExp, Date, Promise, Set, Map, WeakSet, WeakMap, DataView].find((one) => one.prototype === prototype);
  return known ? known.name : Object.prototype.toString.call(value).slice(8, -1);
}

const article = (noun) => `${'aeiou'.includes(noun.charAt(0)) && noun !== '' ? 'an' : 'a'} ${noun}`;
const isObject = (value) => value === Object(value);
const getName = (value) => (typeof value === 'function' ? value.name : null);
const hasProperty = (object, name) => object !== undefined && object !== null && name in Object(object);

/** The names along a path such as `a.b[0]`; a backslash takes the meaning of the dot or bracket behind it. */
function stepsOf(path) {
  const steps = path.replace(/([^\\])\[/g, '$1.[').match(/(?:\\\.|[^.])+/g);
  return steps.map((step) => {
    if (step === 'constructor' || step === 'prototype' || step === '__proto__') return undefined;
    const index = /^\[(\d+)\]$/.exec(step);
    return index ? parseFloat(index[1]) : step.replace(/\\([.[\]])/g, '$1');
  });
}

function walk(object, steps) {
  let found = null;
  let holder = object;
  steps.forEach((step, at) => {
    if (!holder) return;
    holder = holder[step];
    if (at === steps.length - 1) found = holder;
  });
  return found;
}

function getPathInfo(object, path) {
  const steps = stepsOf(path);
  const name = steps[steps.length - 1];
  const parent = steps.length > 1 ? walk(object, steps.slice(0, -1)) : object;
  return { parent, name, value: walk(object, steps), exists: hasProperty(parent, name) };
}

const checkError = {
  compatibleInstance: (thrown, wanted) => wanted instanceof Error && thrown === wanted,
  compatibleConstructor(thrown, wanted) {
    const kind = wanted instanceof Error ? wanted.constructor : wanted;
    const isKind = wanted instanceof Error || wanted.prototype instanceof Error || wanted === Error;
    return isKind && (thrown.constructor === kind || thrown instanceof kind);
  },
  compatibleMessage(thrown, wanted) {
    const text = typeof thrown === 'string' ? thrown : thrown.message;
    if (wanted instanceof RegExp) return wanted.test(text);
    return typeof wanted === 'string' && text.indexOf(wanted) !== -1;
  },
  getConstructorName(wanted) {
    if (wanted instanceof Error) return getName(wanted.constructor);
    if (typeof wanted !== 'function') return wanted;
    return getName(wanted) || getName(new wanted()) || '';
  },
  getMessage(thrown) {
    if (thrown && thrown.message) return thrown.message;
    return typeof thrown === 'string' ? thrown : '';
  },
};
