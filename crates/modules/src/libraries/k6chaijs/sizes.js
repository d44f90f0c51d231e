// Comparisons of numbers, dates and lengths; classes; properties; patterns; keys.

function sizeOf(value) {
  const isCollection = ['map', 'set'].includes(type(value).toLowerCase());
  return isCollection ? ['size', value.size] : ['length', value.length];
}

/** Refuses what cannot be compared. `noun`: how the message calls the bounds. */
function comparable(assertion, bounds, word, isLength) {
  const value = flag(assertion, 'object');
  const kind = type(value).toLowerCase();
  if (isLength && kind !== 'map' && kind !== 'set') also(assertion, value).to.have.property('length');
  const are = (wanted) => bounds.every((bound) => type(bound).toLowerCase() === wanted);
  const [argument, a] = bounds.length > 1 ? ['arguments', ''] : ['argument', 'a '];
  const plural = bounds.length > 1 ? 's' : '';
  if (!isLength && kind === 'date' && !are('date')) throw unfit(assertion, `the ${argument} to ${word} must be ${a}date${plural}`);
  if (!are('number') && (isLength || kind === 'number')) {
    throw unfit(assertion, `the ${argument} to ${word} must be ${a}number${plural}`);
  }
  if (!isLength && kind !== 'date' && kind !== 'number') {
    throw unfit(assertion, 'expected ' + (kind === 'string' ? `'${value}'` : value) + ' to be a number or a date');
  }
}

/** A comparison: `opposite` is what holds where it does not. */
function comparison(names, word, holds, text, opposite, lengthOpposite) {
  method(names, 1, function (bound) {
    const isLength = flag(this, 'doLength');
    comparable(this, [bound], word, isLength);
    const value = flag(this, 'object');
    if (!isLength) {
      this.assert(holds(value, bound), `expected #{this} to be ${text} #{exp}`, `expected #{this} to be ${opposite} #{exp}`, bound);
      return;
    }
    const [noun, size] = sizeOf(value);
    const texts = [`to have a ${noun} ${text} #{exp} but got #{act}`, lengthOpposite(noun)].map((one) => `expected #{this} ${one}`);
    this.assert(holds(size, bound), ...texts, bound, size);
  });
}
comparison(['above', 'gt', 'greaterThan'], 'above', (value, bound) => value > bound, 'above', 'at most',
  (noun) => `to not have a ${noun} above #{exp}`);
comparison(['least', 'gte', 'greaterThanOrEqual'], 'least', (value, bound) => value >= bound, 'at least', 'below',
  (noun) => `to have a ${noun} below #{exp}`);
comparison(['below', 'lt', 'lessThan'], 'below', (value, bound) => value < bound, 'below', 'at least',
  (noun) => `to not have a ${noun} below #{exp}`);
comparison(['most', 'lte', 'lessThanOrEqual'], 'most', (value, bound) => value <= bound, 'at most', 'above',
  (noun) => `to have a ${noun} above #{exp}`);

method(['within'], 2, function (low, high) {
  const isLength = flag(this, 'doLength');
  const areDates = [low, high].every((bound) => type(bound).toLowerCase() === 'date');
  const shownDate = (date) => (VERSION < 42 ? date.toUTCString() : date.toISOString());
  const range = areDates ? `${shownDate(low)}..${shownDate(high)}` : low + '..' + high;
  comparable(this, [low, high], 'within', isLength);
  const value = flag(this, 'object');
  const [noun, compared] = isLength ? sizeOf(value) : ['', value];
  const what = isLength ? `have a ${noun} within` : 'be within';
  this.assert(compared >= low && compared <= high, `expected #{this} to ${what} ${range}`, `expected #{this} to not ${what} ${range}`);
});

method(['instanceof', 'instanceOf'], 1, function (constructor) {
  let holds;
  try {
    holds = flag(this, 'object') instanceof constructor;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw unfit(this, `The instanceof assertion needs a constructor but ${type(constructor)} was given.`);
  }
  const name = getName(constructor) ?? 'an unnamed constructor';
  this.assert(holds, `expected #{this} to be an instance of ${name}`, `expected #{this} to not be an instance of ${name}`);
});

function refuseProperty(assertion, name) {
  const isNested = flag(assertion, 'nested');
  const value = flag(assertion, 'object');
  if (isNested && typeof name !== 'string') {
    throw unfit(assertion, 'the argument to property must be a string when using nested syntax');
  }
  if (!['string', 'number', 'symbol'].includes(typeof name)) {
    throw unfit(assertion, 'the argument to property must be a string, number, or symbol');
  }
  if (isNested && flag(assertion, 'own')) throw unfit(assertion, 'The "nested" and "own" flags cannot be combined.');
  if (value === null || value === undefined) throw unfit(assertion, 'Target cannot be null or undefined.');
}

function property(name, ...rest) {
  withMessage(this, rest[1]);
  refuseProperty(this, name);
  const [isDeep, isOwn, isNested] = ['deep', 'own', 'nested'].map((key) => flag(this, key));
  const object = flag(this, 'object');
  const path = isNested ? getPathInfo(object, name) : null;
  const value = path ? path.value : object[name];
  let has = path ? path.exists : hasProperty(object, name);
  if (isOwn) has = Object.hasOwn(object, name);
  const words = `${isDeep ? 'deep ' : ''}${isOwn ? 'own ' : ''}${isNested ? 'nested ' : ''}property`;
  const noun = `${words} ${inspect(name)}`;
  // With `not` and a value, that the property is there is no failure: its value decides.
  if (!flag(this, 'negate') || rest.length === 0) {
    this.assert(has, `expected #{this} to have ${noun}`, `expected #{this} to not have ${noun}`);
  }
  if (rest.length > 0) {
    const [wanted] = rest;
    const isSame = has && (isDeep ? eqlOf(this)(wanted, value) : wanted === value);
    const texts = [`expected #{this} to have ${noun} of #{exp}, but got #{act}`, `expected #{this} to not have ${noun} of #{act}`];
    this.assert(isSame, ...texts, wanted, value);
  }
  flag(this, 'object', value);
}
Assertion.addMethod('property', property);
for (const name of ['ownProperty', 'haveOwnProperty']) {
  Assertion.addMethod(name, function (...args) {
    flag(this, 'own', true);
    property.apply(this, args);
  });
}

for (const alias of ['ownPropertyDescriptor', 'haveOwnPropertyDescriptor']) {
  Assertion.addMethod(alias, function (name, wanted, message) {
    const isMessage = typeof wanted === 'string';
    withMessage(this, isMessage ? wanted : message);
    const found = Object.getOwnPropertyDescriptor(Object(flag(this, 'object')), name);
    if (found && wanted && !isMessage) {
      const text = `expected the own property descriptor for ${inspect(name)} on #{this} to`;
      const texts = [`${text} match ${inspect(wanted)}, got ${inspect(found)}`, `${text} not match ${inspect(wanted)}`];
      this.assert(eqlOf(this)(wanted, found), ...texts, wanted, found, true);
    } else {
      const text = `have an own property descriptor for ${inspect(name)}`;
      this.assert(found, `expected #{this} to ${text}`, `expected #{this} to not ${text}`);
    }
    flag(this, 'object', found);
  });
}

function lengthOf(wanted, message) {
  withMessage(this, message);
  const value = flag(this, 'object');
  if (!['map', 'set'].includes(type(value).toLowerCase())) also(this, value).to.have.property('length');
  const [noun, size] = sizeOf(value);
  const texts = [`expected #{this} to have a ${noun} of #{exp} but got #{act}`, `expected #{this} to not have a ${noun} of #{act}`];
  // eslint-disable-next-line eqeqeq
  this.assert(size == wanted, ...texts, wanted, size);
}
for (const name of ['length', 'lengthOf']) {
  Assertion.addChainableMethod(name, lengthOf, function () {
    flag(this, 'doLength', true);
  });
}

method(['match', 'matches'], 1, function (pattern) {
  this.assert(pattern.exec(flag(this, 'object')), `expected #{this} to match ${pattern}`, `expected #{this} not to match ${pattern}`);
});
method(['string'], 1, function (text) {
  const value = flag(this, 'object');
  also(this, value).is.a('string');
  const shownText = inspect(text);
  const holds = value.indexOf(text) !== -1;
  this.assert(holds, `expected #{this} to contain ${shownText}`, `expected #{this} to not contain ${shownText}`);
});

/** The keys that a script asks for, and those that there are. */
function keysOf(assertion, args) {
  const value = flag(assertion, 'object');
  const kind = type(args[0]);
  if (['Map', 'Set'].includes(type(value))) {
    const actual = [];
    value.forEach((_, key) => actual.push(key));
    return { wanted: kind === 'Array' ? args[0] : args, actual };
  }
  const actual = getOwnEnumerableProperties(value);
  const isList = kind === 'Array' || kind === 'Object';
  if (isList && args.length > 1) {
    throw unfit(assertion, 'when testing keys against an object or an array you must give a single Array|Object|String argument or ' +
      'multiple String arguments');
  }
  let wanted = args;
  if (isList) wanted = kind === 'Array' ? args[0] : Object.keys(args[0]);
  return { wanted: wanted.map((key) => (typeof key === 'symbol' ? key : String(key))), actual };
}

method(['keys', 'key'], Infinity, function (...args) {
  const { wanted, actual } = keysOf(this, args);
  if (wanted.length === 0) throw unfit(this, 'keys required');
  const [isDeep, isAny, contains] = ['deep', 'any', 'contains'].map((key) => flag(this, key));
  const same = isDeep ? eqlOf(this) : (left, right) => left === right;
  const isThereKey = (key) => actual.some((one) => same(key, one));
  const holds = isAny ? wanted.some(isThereKey) : wanted.every(isThereKey) && (contains || wanted.length === actual.length);
  const names = wanted.map((key) => inspect(key));
  const last = names.pop();
  const list = names.length > 0 ? `keys ${names.join(', ')}, ${isAny ? 'or' : 'and'} ${last}` : `key ${last}`;
  const isCollection = ['Map', 'Set'].includes(type(flag(this, 'object')));
  const text = `${isDeep && isCollection ? 'deeply ' : ''}${contains ? 'contain' : 'have'} ${list}`;
  const sorted = [wanted.slice(0), actual].map((keys) => keys.sort(compareByInspect));
  this.assert(holds, `expected #{this} to ${text}`, `expected #{this} to not ${text}`, ...sorted, true);
});
