// Words, states, types, `include`, equality. In Chai's order: which word is suggested for a misspelled one depends on it.

const WORDS = ['to', 'be', 'been', 'is', 'and', 'has', 'have', 'with', 'that', 'which', 'at', 'of', 'same', 'but', 'does', 'still', 'also'];
for (const word of WORDS) Assertion.addProperty(word);

/** A word that sets flags. */
function flags(word, set) {
  Assertion.addProperty(word, function () {
    for (const [key, value] of Object.entries(set)) flag(this, key, value);
  });
}

/** A method under all its names; its last parameter, after so many others, is the message. */
function method(names, others, run) {
  for (const name of names) {
    Assertion.addMethod(name, function (...args) {
      withMessage(this, args[others]);
      return run.apply(this, args);
    });
  }
}

function withMessage(assertion, message) {
  if (message) flag(assertion, 'message', message);
}

/** The message of the assertion in front of a text. */
function prefixed(assertion, text) {
  const message = flag(assertion, 'message');
  return `${message ? `${message}: ` : ''}${text}`;
}

/** What cannot be asserted of these values at all: no check, an error. */
function unfit(assertion, text) {
  return new AssertionError(prefixed(assertion, text), undefined);
}

/** Another assertion of a value on the way, with the same message: a check of its own. */
const also = (assertion, value) => new Assertion(value, flag(assertion, 'message'), flag(assertion, 'ssfi'), true);
const eqlOf = (assertion) => (VERSION >= 50 ? flag(assertion, 'eql') : eql);

flags('not', { negate: true });
flags('deep', { deep: true });
flags('nested', { nested: true });
flags('own', { own: true });
flags('ordered', { ordered: true });
flags('any', { any: true, all: false });
flags('all', { all: true, any: false });

function isOfType(wanted, message) {
  withMessage(this, message);
  const name = wanted.toLowerCase();
  const holds = name === type(flag(this, 'object')).toLowerCase();
  this.assert(holds, `expected #{this} to be ${article(name)}`, `expected #{this} not to be ${article(name)}`);
}
Assertion.addChainableMethod('an', isOfType);
Assertion.addChainableMethod('a', isOfType);

function included(assertion, kind, value) {
  const object = flag(assertion, 'object');
  const isDeep = flag(assertion, 'deep');
  const same = isDeep ? eqlOf(assertion) : (left, right) => left === right || (Number.isNaN(left) && Number.isNaN(right));
  let found = false;
  switch (kind) {
    case 'string':
      return object.indexOf(value) !== -1;
    case 'weakset':
      if (isDeep) throw unfit(assertion, 'unable to use .deep.include with WeakSet');
      return object.has(value);
    case 'map':
      object.forEach((item) => {
        found = found || same(item, value);
      });
      return found;
    case 'set':
      if (!isDeep) return object.has(value);
      object.forEach((item) => {
        found = found || same(item, value);
      });
      return found;
    default:
      return isDeep ? object.some((item) => same(item, value)) : object.indexOf(value) !== -1;
  }
}

/** Each property of `value` is an assertion of its own. With `not`, one that is missing is enough. */
function includeProperties(assertion, value) {
  const names = Object.keys(value);
  const isEnough = flag(assertion, 'negate') && names.length > 1;
  const errors = [];
  for (const name of names) {
    const property = new Assertion(flag(assertion, 'object'));
    transferFlags(assertion, property);
    flag(property, 'lockSsfi', true);
    try {
      property.property(name, value[name]);
    } catch (error) {
      if (!isEnough || !checkError.compatibleConstructor(error, AssertionError)) throw error;
      errors.push(error);
    }
  }
  if (isEnough && errors.length === names.length) throw errors[0];
}

function include(value, message) {
  withMessage(this, message);
  // Chai puts the message in front of what it might say, before it knows whether it will.
  if (typeof flag(this, 'message') === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  const kind = type(flag(this, 'object')).toLowerCase();
  if (!['string', 'weakset', 'map', 'set', 'array'].includes(kind)) {
    if (isObject(value)) {
      includeProperties(this, value);
      return;
    }
    const found = type(value).toLowerCase();
    throw unfit(this, `the given combination of arguments (${kind} and ${found}) is invalid for this assertion. You can use an ` +
      `array, a map, an object, a set, a string, or a weakset instead of a ${found}`);
  }
  const text = `${flag(this, 'deep') ? 'deep ' : ''}include ${inspect(value)}`;
  this.assert(included(this, kind, value), `expected #{this} to ${text}`, `expected #{this} to not ${text}`);
}
for (const name of ['include', 'contain', 'contains', 'includes']) {
  Assertion.addChainableMethod(name, include, function () {
    flag(this, 'contains', true);
  });
}

/** A word that asserts: what must hold of the value, and both texts. `expected`: what `not` turns round. */
function state(name, holds, text, inverted, expected) {
  Assertion.addProperty(name, function () {
    const value = flag(this, 'object');
    const rest = expected === undefined ? [] : [flag(this, 'negate') ? !expected : expected];
    this.assert(holds.call(this, value), `expected #{this} ${text}`, `expected #{this} ${inverted}`, ...rest);
  });
}
const isThere = (value) => value !== null && value !== undefined;
state('ok', (value) => value, 'to be truthy', 'to be falsy');
state('true', (value) => value === true, 'to be true', 'to be false', true);
state('false', (value) => value === false, 'to be false', 'to be true', false);
state('null', (value) => value === null, 'to be null', 'not to be null');
state('undefined', (value) => value === undefined, 'to be undefined', 'not to be undefined');
state('NaN', (value) => Number.isNaN(value), 'to be NaN', 'not to be NaN');
state('exist', isThere, 'to exist', 'to not exist');
state('exists', isThere, 'to exist', 'to not exist');
state('empty', function (value) {
  return sizeForEmpty(this, value) === 0;
}, 'to be empty', 'not to be empty');

function sizeForEmpty(assertion, value) {
  switch (type(value).toLowerCase()) {
    case 'array':
    case 'string':
      return value.length;
    case 'map':
    case 'set':
      return value.size;
    case 'weakmap':
    case 'weakset':
      throw unfit(assertion, '.empty was passed a weak collection');
    case 'function':
      throw new AssertionError(prefixed(assertion, `.empty was passed a function ${getName(value)}`).trim(), undefined);
    default:
      if (!isObject(value)) throw unfit(assertion, `.empty was passed non-string primitive ${inspect(value)}`);
      return Object.keys(value).length;
  }
}

function isArguments() {
  const found = type(flag(this, 'object'));
  this.assert(found === 'Arguments', `expected #{this} to be arguments but got ${found}`, 'expected #{this} to not be arguments');
}
Assertion.addProperty('arguments', isArguments);
Assertion.addProperty('Arguments', isArguments);

method(['equal', 'equals', 'eq'], 1, function (wanted) {
  const value = flag(this, 'object');
  if (flag(this, 'deep')) this.eql(wanted);
  else this.assert(wanted === value, 'expected #{this} to equal #{exp}', 'expected #{this} to not equal #{exp}', wanted, value, true);
});
method(['eql', 'eqls'], 1, function (wanted) {
  const value = flag(this, 'object');
  const texts = ['expected #{this} to deeply equal #{exp}', 'expected #{this} to not deeply equal #{exp}'];
  this.assert(eqlOf(this)(wanted, value), ...texts, wanted, value, true);
});
