// The ways to write assertions: `expect`, `should`, `assert`.

const failing = (name, self) => (...args) => {
  const [actual, expected, message, operator] = args.length < 2 ? [undefined, undefined, args[0]] : args;
  throw new AssertionError(message || `${name}.fail()`, { actual, expected, operator }, self);
};

const expect = (value, message) => new Assertion(value, message);
expect.fail = failing('expect');

/** Gives every object the property `should`. */
function should() {
  Object.defineProperty(Object.prototype, 'should', {
    get() {
      const isBoxed = [String, Number, Boolean, Symbol, BigInt].some((kind) => this instanceof kind);
      return new Assertion(isBoxed ? this.valueOf() : this, null);
    },
    set(value) {
      Object.defineProperty(this, 'should', { value, enumerable: true, configurable: true, writable: true });
    },
    configurable: true,
  });
  const calls = (to) => ({
    equal: (value, other, message) => void to(value, message).equal(other),
    Throw: (run, kind, text, message) => void to(run, message).Throw(kind, text),
    exist: (value, message) => void to(value, message).exist,
  });
  const own = { fail: failing('should'), ...calls((...args) => expect(...args).to), not: calls((...args) => expect(...args).to.not) };
  for (const one of [own, own.not]) one.throw = one.Throw;
  return own;
}

/** A check of anything: what holds, and the text. */
const assert = (holds, text) => new Assertion(null, null).assert(holds, text, '[ negation message unavailable ]') && undefined;
assert.fail = failing('assert');

/** `assert.NAME(value, …others, message)` for chains of words that end in a word (no others) or in a method. */
const CHAINS = `isOk is.ok; isNotOk is.not.ok; strictEqual to.equal 1; notStrictEqual to.not.equal 1; deepEqual to.eql 1;
  deepStrictEqual to.eql 1; notDeepEqual to.not.eql 1; isAbove to.be.above 1; isAtLeast to.be.least 1; isBelow to.be.below 1;
  isAtMost to.be.most 1; isTrue is.true; isFalse is.false; isNaN to.be.NaN; isNotNaN not.to.be.NaN; exists to.exist;
  notExists to.not.exist; isFinite to.be.finite; typeOf to.be.a 1; notTypeOf to.not.be.a 1; instanceOf to.be.instanceOf 1;
  notInstanceOf to.not.be.instanceOf 1; include include 1; notInclude not.include 1; deepInclude deep.include 1;
  notDeepInclude not.deep.include 1; nestedInclude nested.include 1; notNestedInclude not.nested.include 1;
  deepNestedInclude deep.nested.include 1; notDeepNestedInclude not.deep.nested.include 1; ownInclude own.include 1;
  notOwnInclude not.own.include 1; deepOwnInclude deep.own.include 1; notDeepOwnInclude not.deep.own.include 1;
  match to.match 1; notMatch to.not.match 1; property to.have.property 1; notProperty to.not.have.property 1;
  propertyVal to.have.property 2; notPropertyVal to.not.have.property 2; deepPropertyVal to.have.deep.property 2;
  notDeepPropertyVal to.not.have.deep.property 2; ownProperty to.have.own.property 1; notOwnProperty to.not.have.own.property 1;
  ownPropertyVal to.have.own.property 2; notOwnPropertyVal to.not.have.own.property 2;
  deepOwnPropertyVal to.have.deep.own.property 2; notDeepOwnPropertyVal to.not.have.deep.own.property 2;
  nestedProperty to.have.nested.property 1; notNestedProperty to.not.have.nested.property 1;
  nestedPropertyVal to.have.nested.property 2; notNestedPropertyVal to.not.have.nested.property 2;
  deepNestedPropertyVal to.have.deep.nested.property 2; notDeepNestedPropertyVal to.not.have.deep.nested.property 2;
  lengthOf to.have.lengthOf 1; hasAnyKeys to.have.any.keys 1; hasAllKeys to.have.all.keys 1; containsAllKeys to.contain.all.keys 1;
  doesNotHaveAnyKeys to.not.have.any.keys 1; doesNotHaveAllKeys to.not.have.all.keys 1; hasAnyDeepKeys to.have.any.deep.keys 1;
  hasAllDeepKeys to.have.all.deep.keys 1; containsAllDeepKeys to.contain.all.deep.keys 1;
  doesNotHaveAnyDeepKeys to.not.have.any.deep.keys 1; doesNotHaveAllDeepKeys to.not.have.all.deep.keys 1;
  closeTo to.be.closeTo 2; approximately to.be.approximately 2; sameMembers to.have.same.members 1;
  notSameMembers to.not.have.same.members 1; sameDeepMembers to.have.same.deep.members 1;
  notSameDeepMembers to.not.have.same.deep.members 1; sameOrderedMembers to.have.same.ordered.members 1;
  notSameOrderedMembers to.not.have.same.ordered.members 1; sameDeepOrderedMembers to.have.same.deep.ordered.members 1;
  notSameDeepOrderedMembers to.not.have.same.deep.ordered.members 1; includeMembers to.include.members 1;
  notIncludeMembers to.not.include.members 1; includeDeepMembers to.include.deep.members 1;
  notIncludeDeepMembers to.not.include.deep.members 1; includeOrderedMembers to.include.ordered.members 1;
  notIncludeOrderedMembers to.not.include.ordered.members 1; includeDeepOrderedMembers to.include.deep.ordered.members 1;
  notIncludeDeepOrderedMembers to.not.include.deep.ordered.members 1; oneOf to.be.oneOf 1; isExtensible to.be.extensible;
  isNotExtensible to.not.be.extensible; isSealed to.be.sealed; isNotSealed to.not.be.sealed; isFrozen to.be.frozen;
  isNotFrozen to.not.be.frozen; isEmpty to.be.empty; isNotEmpty to.not.be.empty`;

/** Follows a chain of words from an assertion; calls its end where there are arguments for it. */
function follow(assertion, words, args) {
  const end = words[words.length - 1];
  const holder = words.slice(0, -1).reduce((at, word) => at[word], assertion);
  return args === undefined ? holder[end] : holder[end](...args);
}

for (const row of CHAINS.split(';')) {
  const [name, chain, others = '0'] = row.trim().split(' ');
  const count = Number(others);
  assert[name] = (value, ...rest) => {
    const args = Array.from({ length: count }, (_, at) => rest[at]);
    follow(new Assertion(value, rest[count]), chain.split('.'), count > 0 ? args : undefined);
  };
}

/** `isX` and `isNotX` of one value each: equal to it, or of a type. */
const VALUES = { True: true, False: false, Null: null };
for (const [name, wanted] of Object.entries(VALUES)) {
  if (wanted === null) assert[`is${name}`] = (value, message) => void expect(value, message).to.equal(wanted);
  assert[`isNot${name}`] = (value, message) => void expect(value, message).to.not.equal(wanted);
}
assert.isUndefined = (value, message) => void expect(value, message).to.equal(undefined);
assert.isDefined = (value, message) => void expect(value, message).to.not.equal(undefined);
for (const name of ['Function', 'Object', 'Array', 'String', 'Number', 'Boolean']) {
  assert[`is${name}`] = (value, message) => void expect(value, message).to.be.a(name.toLowerCase());
  assert[`isNot${name}`] = (value, message) => void expect(value, message).to.not.be.a(name.toLowerCase());
}

assert.equal = (actual, expected, message) => {
  const texts = ['expected #{this} to equal #{exp}', 'expected #{this} to not equal #{act}'];
  // eslint-disable-next-line eqeqeq
  expect(actual, message).assert(expected == actual, ...texts, expected, actual, true);
};
assert.notEqual = (actual, expected, message) => {
  const texts = ['expected #{this} to not equal #{exp}', 'expected #{this} to equal #{act}'];
  // eslint-disable-next-line eqeqeq
  expect(actual, message).assert(expected != actual, ...texts, expected, actual, true);
};

const isPattern = (kind) => typeof kind === 'string' || kind instanceof RegExp;
assert.throws = (run, kind, text, message) => {
  const args = isPattern(kind) ? [null, kind] : [kind, text];
  return flag(expect(run, message).to.throw(...args), 'object');
};
assert.doesNotThrow = (run, kind, text, message) => {
  const args = isPattern(kind) ? [null, kind] : [kind, text];
  expect(run, message).to.not.throw(...args);
};

/* eslint-disable eqeqeq */
const OPERATORS = {
  '==': (left, right) => left == right, '===': (left, right) => left === right,
  '!=': (left, right) => left != right, '!==': (left, right) => left !== right,
  '>': (left, right) => left > right, '>=': (left, right) => left >= right,
  '<': (left, right) => left < right, '<=': (left, right) => left <= right,
};
assert.operator = (left, operator, right, message) => {
  if (!Object.hasOwn(OPERATORS, operator)) {
    // Without a message Chai's text begins with the word undefined.
    throw new AssertionError(`${message && `${message}: `}Invalid operator "${operator}"`);
  }
  const holds = OPERATORS[operator](left, right);
  const text = (not) => `expected ${inspect(left)} to ${not}be ${operator} ${inspect(right)}`;
  expect(holds, message).assert(holds === true, text(''), text('not '));
};

/** The subject is a function, or an object and the name of a property. */
function effects(word, past) {
  const subject = (args, most) => {
    const isFunction = args.length === most && typeof args[1] === 'function';
    return isFunction ? { name: null, message: args[most - 1] } : { name: args[2], message: args[most] };
  };
  const begin = (args, not) => {
    const { name, message } = subject(args, 3);
    const to = expect(args[0], message).to;
    return (not ? to.not : to)[word](args[1], name);
  };
  const by = (args, not, butNot) => {
    let [name, delta, message] = args.slice(2);
    // The name stays, as in Chai, so that a function as the subject is asked for a property.
    if (args.length === 4 && typeof args[1] === 'function') [delta, message] = [name, delta];
    else if (args.length === 3) [name, delta] = [null, name];
    const to = expect(args[0], message).to;
    const changed = (not ? to.not : to)[word](args[1], name);
    return (butNot ? changed.but.not : changed).by(delta);
  };
  const does = `doesNot${word[0].toUpperCase()}${word.slice(1)}`;
  const isChange = word === 'change';
  assert[past] = (...args) => (isChange ? void begin(args, false) : begin(args, false));
  assert[does] = (...args) => begin(args, true);
  assert[`${past}By`] = (...args) => void by(args, false, false);
  assert[`${past}ButNotBy`] = (...args) => void by(args, false, true);
  if (word === 'decrease') assert[`${does}By`] = (...args) => by(args, true, false);
}
effects('change', 'changes');
effects('increase', 'increases');
effects('decrease', 'decreases');

assert.ifError = (value) => {
  if (value) throw value;
};
const ALIASES = { isOk: 'ok', isNotOk: 'notOk', isExtensible: 'extensible', isNotExtensible: 'notExtensible', isSealed: 'sealed' };
Object.assign(ALIASES, { isNotSealed: 'notSealed', isFrozen: 'frozen', isNotFrozen: 'notFrozen', isEmpty: 'empty', isNotEmpty: 'notEmpty' });
for (const [name, alias] of Object.entries(ALIASES)) assert[alias] = assert[name];
assert.throw = assert.throws;
assert.Throw = assert.throws;
