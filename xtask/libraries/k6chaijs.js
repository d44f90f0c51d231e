// Assertions of k6chaijs: chains of words with any end, about any value. Each is a group, whose checks the summary has.
const chai = subject.chai ?? subject.default;
const { describe, expect } = subject;
const { assert, util, config } = chai;

const WORDS = ['to', 'be', 'been', 'is', 'and', 'has', 'have', 'with', 'that', 'which', 'at', 'of', 'same', 'but', 'does', 'still', 'also',
  'not', 'not', 'not', 'deep', 'deep', 'nested', 'own', 'ordered', 'any', 'all', 'itself', 'a', 'an', 'include', 'contain', 'contains', 'includes', 'length', 'lengthOf'];
const STATES = ['ok', 'true', 'false', 'null', 'undefined', 'NaN', 'exist', 'exists', 'empty', 'arguments', 'Arguments', 'extensible', 'sealed', 'frozen', 'finite'];
const number = () => (chance(0.8) ? below(6) - 1 : any());
const key = () => (chance(0.85) ? pick(['a', 'b', 'length', 'a.b', 'a.b[0]', 'a.b[1].c', '[1]', 'd e', 'toString', 'constructor', 'x', 0, 1, 'a\\.b']) : any());
const message = () => (chance(0.25) ? [pick(['my message', '', 'x'.repeat(120), 'with #{this}', 5])] : []);
const thrower = () => pick([() => () => { throw new Error('bad thing'); }, () => () => { throw new TypeError('bad type'); }, () => () => { throw 'a text'; }, () => () => { throw undefined; },
  () => () => { throw { message: 'like' }; }, () => () => 1, any])();
const kind = () => pick([() => undefined, () => Error, () => TypeError, () => new Error('bad thing'), () => 'bad', () => /thing$/, () => null, () => 'nothing', () => class Own extends Error {}, any])();
const list = () => (chance(0.85) ? many(4, () => pick([1, 2, 3, 'a', 'b', NaN])) : any());
const deepList = () => (chance(0.85) ? many(3, () => pick([() => ({ a: 1 }), () => [1], () => 1, () => 'a'])()) : any());
const value = () => pick([any, any, number, list, deepList, () => ({ a: { b: [1, { c: 2 }] }, b: 2 }), () => ({ a: 1, b: 2 }), () => 'abcabc', thrower, () => new Map([['a', 1], [{ k: 1 }, 2]]), () => new Set(['a', { k: 1 }]),
  () => new Date(pick([0, 1000])), () => new Promise(() => {}), () => new WeakMap(), () => new WeakSet(), () => (function () { return arguments; })(1, 'a'), () => Object.freeze({ a: 1 }), () => Object.seal([1]),
  () => Object.assign([1, 2], { x: 1 }), () => ({ [Symbol('s')]: 1, a: 2 }), () => Object.assign(new Error('coded'), { code: 7 }), () => new (class Point { constructor() { this.x = 1; } move() {} })(), () => new ArrayBuffer(3), () => Object(1), () => Object('s'),
  () => new Float64Array(30).fill(1.5), () => ({ ['k'.repeat(50)]: 1, b: 'x'.repeat(60) }), () => 'x'.repeat(300), () => new DataView(new ArrayBuffer(2)), () => ({ get a() { return 1; }, b: undefined }), () => ({ inspect: () => 'inspected' }),
  () => many(30, (at) => at), () => Object.fromEntries(many(12, (at) => [`key${at}`, at])), () => new Map(many(8, (at) => [at, `v${at}`])), () => new Set(many(12, (at) => `item${at}`))])();

const run = () => pick([() => () => { box.n += pick([0, 1, -1, 2]); }, () => () => {}, any])();
const box = { n: 1, t: 'x' };
const subjectOf = () => pick([() => [() => box.n], () => [box, 'n'], () => [box, 't'], () => [box, 'missing'], () => [any(), any()]])();

/** Methods with arguments of the kind that they take, mostly. */
const METHODS = {
  equal: () => [value()], equals: () => [value()], eq: () => [value()], eql: () => [value()], eqls: () => [value()], above: () => [number()], gt: () => [number()], greaterThan: () => [number()],
  least: () => [number()], gte: () => [number()], greaterThanOrEqual: () => [number()], below: () => [number()], lt: () => [number()], lessThan: () => [number()], most: () => [number()], lte: () => [number()], lessThanOrEqual: () => [new Date(500)],
  within: () => (chance(0.9) ? [number(), number()] : [new Date(0), new Date(9)]), instanceof: () => [pick([Error, Map, Array, Object, any()])], instanceOf: () => [pick([Date, Set, class Thing {}, any()])],
  property: () => (chance(0.5) ? [key()] : [key(), value()]), ownProperty: () => (chance(0.5) ? [key()] : [key(), value()]), haveOwnProperty: () => [key()],
  ownPropertyDescriptor: () => (chance(0.5) ? [key()] : [key(), { configurable: true, enumerable: true, writable: true, value: 1 }]), haveOwnPropertyDescriptor: () => [key(), 'text'],
  length: () => [number()], lengthOf: () => [number()], match: () => [pick([/a/, /^x/, any()])], matches: () => [/b/g], string: () => [pick(['a', 'z', any()])],
  keys: () => pick([() => many(3, key), () => [many(3, key)], () => [{ a: 1, b: 2 }], () => [new Map()], () => [{ k: 1 }, 'a']])(), key: () => [key()],
  throw: () => [kind(), kind()].slice(0, below(3)), throws: () => [kind(), kind()].slice(0, below(3)), Throw: () => [kind()], respondTo: () => [key()], respondsTo: () => ['move'],
  satisfy: () => [pick([(one) => one > 1, function isThere(one) { return Boolean(one); }, any()])], satisfies: () => [(one) => one], closeTo: () => [number(), number()].slice(0, 1 + below(2)), approximately: () => [number(), number()],
  members: () => [pick([list(), deepList()])], oneOf: () => [pick([list(), deepList(), ['abcabc', 'b']])], change: subjectOf, changes: subjectOf, increase: subjectOf, increases: subjectOf, decrease: subjectOf, decreases: subjectOf,
  a: () => [pick(['string', 'Array', 'object', 'error', 'Map', 'null', any()])], an: () => [pick(['array', 'undefined', 'Object', 'x'])], include: () => [value()], contain: () => [value()], contains: () => [value()], includes: () => [value()],
  anonymize: () => pick([[], [(text) => `<${text}>`]]), validJsonBody: () => [],
};
const response = () => pick([() => ({ json: () => ({}) }), () => ({ json: () => { throw new Error('no JSON'); } }), () => ({})])();

function follow(chain, words, end, args) {
  let at = chain;
  for (const one of words) at = at[one];
  if (end === undefined) return at;
  return args === undefined ? at[end] : at[end](...args);
}

/** What an assertion says of itself, and what it throws. */
function outcome(make) {
  try {
    const result = make();
    if (typeof result === 'object' && result !== null && '__flags' in result) return render(Object.entries(result.__flags).filter(([name]) => !['ssfi', 'eql', 'lockSsfi'].includes(name)));
    return `gives ${render(result)}`;
  } catch (error) {
    const { actual, expected, showDiff, operator } = error ?? {};
    return `${errorText(error)} ${render([error?.name === 'AssertionError', actual, expected, showDiff, operator])}`;
  }
}

const words = () => many(4, () => pick(WORDS));
const valueFor = (end) => {
  if (/^(throw|Throw)/.test(end)) return chance(0.85) ? thrower() : any();
  if (/^(change|increase|decrease)/.test(end)) return run();
  if (/^valid/.test(end)) return response();
  if (/^(members)/.test(end)) return pick([list(), deepList()]);
  return value();
};

/** Settings of the library for one assertion. */
function withConfig(set, make) {
  const before = { ...config };
  Object.assign(config, set);
  box.n = 1;
  try {
    return make();
  } finally {
    Object.assign(config, before);
  }
}
const settingsOf = () => (chance(0.8) ? {} : pick([{ aggregateChecks: false }, { truncateVariableThreshold: 20 }, { truncateThreshold: 0 }, { truncateThreshold: 12 }, { useProxy: false }, { truncateMsgThreshold: 10 }]));

function calls() {
  const all = {};
  for (const [end, argsOf] of Object.entries(METHODS)) {
    all[`expect ${end}`] = {
      isGroup: true, count: 2 * COUNT,
      make: () => [settingsOf(), [valueFor(end), ...message()], words(), [...argsOf(), ...(chance(0.2) ? message() : [])], pick([[], [], ['and', 'not', 'exist'], ['by']])],
      run: (set, given, chain, args, after) => withConfig(set, () => outcome(() => {
        const first = follow(expect(...given), chain, end, args);
        if (after[0] === 'by') return first.by(1);
        return follow(first, after);
      })),
    };
  }
  for (const end of STATES) {
    all[`expect ${end}`] = { isGroup: true, make: () => [settingsOf(), [value(), ...message()], words()], run: (set, given, chain) => withConfig(set, () => outcome(() => follow(expect(...given), chain, end))) };
  }
  const misspelled = () => pick(['eqaul', 'lenght', 'tobe', 'foo', 'proprety', 'tru', 'Null', 'equal.x', 'a.b', 'length', 'inclde', 'haveownproperty', 'thrws', 'toJSON', 'then', 'constructor', 'k', 'NAN', 'oneof', 'keyz', 'gtt', 'lst']);
  all['expect misspelled'] = { count: 3 * COUNT, make: () => [value(), words(), misspelled()], run: (one, chain, name) => outcome(() => follow(expect(one), [...chain, ...name.split('.')])) };
  for (const name of Object.keys(assert).sort()) {
    const isEffect = /chang|creas/i.test(name);
    all[`assert.${name}`] = {
      isGroup: true,
      make: () => {
        const rest = isEffect ? [...subjectOf(), ...pick([[], [1], [1, 'my message'], ['my message']])] : [pick([value, key, number, kind, list, () => '==', () => '>='])(), pick([value, key, number, kind])(), ...message()].slice(0, below(4));
        return [[isEffect ? run() : valueFor(/hrow/.test(name) ? 'throw' : /embers/.test(name) ? 'members' : name), ...rest]];
      },
      run: (args) => withConfig({}, () => outcome(() => assert[name](...args))),
    };
  }
  Object.assign(all, {
    assert: { isGroup: true, make: () => [any(), pick(['a text', 'a #{this} text', undefined])], run: (holds, text) => outcome(() => assert(holds, text)) },
    'expect.fail': { make: () => [many(4, any)], run: (args) => outcome(() => expect.fail(...args)) },
    'util.type': { count: 2 * COUNT, make: () => [value()], run: (one) => util.type(one) },
    'util.inspect': { count: 4 * COUNT, make: () => [pick([0, 10, 25, 40, 80, 200]), pick([value, deepList, list])()], run: (most, one) => withConfig({ truncateThreshold: most }, () => [util.inspect(one), util.objDisplay(one)]) },
    'util.eql': { count: 4 * COUNT, make: () => { const one = value(); return [one, chance(0.3) ? one : value()]; }, run: (one, other) => util.eql(one, other) },
    'util.eql alike': { count: 2 * COUNT, make: () => { const made = pick([...EDGES, () => new Map([[{ a: 1 }, [1]]]), () => new Set([[1], 'b']), () => Object.assign(new Error('x'), { code: 1 }), () => ({ [Symbol.for('z')]: 1 }), () => new ArrayBuffer(4)]); return [made(), made()]; }, run: (one, other) => util.eql(one, other) },
    'util.getPathInfo': { make: () => [pick([value(), { a: { b: [1, { c: 2 }] } }]), key()], run: (one, path) => { const { value: found, exists, name } = util.getPathInfo(one, path); return [found, exists, name]; } },
    'util.hasProperty': { make: () => [value(), key()], run: (one, name) => util.hasProperty(one, name) },
    'util.getName': { count: 20, make: () => [any()], run: (one) => util.getName(one) },
    'util.compareByInspect': { make: () => [value(), value()], run: (one, other) => util.compareByInspect(one, other) },
    'util.expectTypes': { make: () => [value(), many(3, () => pick(['array', 'String', 'object', 'error']))], run: (one, types) => outcome(() => util.expectTypes(expect(one, 'msg'), types)) },
    'util.getMessage': { make: () => [value(), pick([[], ['not']])], run: (one, chain) => util.getMessage(follow(expect(one, 'msg'), chain), [true, 'is #{this} #{act} #{exp}', 'not #{this}', 1, 2]) },
    'util.checkError': {
      make: () => [pick([new Error('a'), new TypeError('b'), 'text', { message: 'm' }]), pick([Error, TypeError, new Error('a'), /a/, 'a', function Plain() {}])],
      run: (thrown, wanted) => Object.fromEntries(Object.keys(util.checkError).sort().map((name) => [name, outcome(() => util.checkError[name](thrown, wanted))])),
    },
    'AssertionError': { make: () => [pick(['m', undefined, '']), pick([undefined, { actual: 1, expected: 2, name: 'n', own: 3 }])], run: (...args) => { const error = new chai.AssertionError(...args); const { stack, ...rest } = error.toJSON(); return [error.name, String(error), error instanceof Error, rest, error.showDiff]; } },
    'chai.use': {
      isGroup: true, count: 3, make: () => [value()],
      run: (one) => {
        const name = `own${below(1000000)}`;
        chai.use(({ Assertion }, utils) => {
          Assertion.addProperty(name, function () { this.assert(utils.flag(this, 'object'), 'expected #{this} to be own', 'expected #{this} not to be own'); });
          Assertion.addMethod(`${name}Method`, function (other) { this.assert(utils.flag(this, 'object') === other, 'expected #{this} to be #{exp}', 'expected #{this} not to be #{exp}', other); });
          Assertion.addChainableMethod(`${name}Chain`, function (other) { new Assertion(this._obj).to.equal(other); }, function () { utils.flag(this, 'own', true); });
          Assertion.overwriteProperty('ok', (before) => function () { before.call(this); });
          Assertion.overwriteMethod('match', (before) => function (...args) { before.apply(this, args); });
          Assertion.overwriteChainableMethod('a', (before) => function (...args) { before.apply(this, args); }, (before) => function () { before.call(this); });
        });
        return [() => expect(one).to.be[name], () => expect(one).to[`${name}Method`](1), () => expect(one).to[`${name}Chain`](one), () => expect(one).to[`${name}Chain`].exist, () => expect(one).ok, () => expect(one).to.match(/a/), () => expect(one).to.be.a('string')].map(outcome);
      },
    },
    describe: {
      isGroup: true,
      make: () => [pick(['a case', 'ä case', '']), pick([() => {}, () => { throw new Error('thrown'); }, () => { throw 'text'; }, () => { expect(1).to.equal(2); }, () => { expect(1).to.equal(1); throw new TypeError('later'); }, () => describe('inner', () => expect(1).to.equal(2)), async () => { expect(1).to.equal(2); }])],
      run: (name, body) => describe(name, body),
    },
    config: { count: 1, make: () => [], run: () => [Object.entries(config).sort(), chai.version, Object.keys(chai).sort(), Object.keys(util).sort()] },
    'chai.should': {
      isGroup: true, count: 20, make: () => [pick(['text', 5, { a: 1 }, [1], true]), any()],
      run: (one, other) => {
        const should = chai.should();
        const results = [() => one.should.equal(other), () => one.should.be.an('object'), () => should.exist(other), () => should.not.exist(other), () => should.equal(one, other), () => should.fail('x'), () => should.not.equal(1, 1), () => should.throw(() => { throw new Error('x'); }, 'x')].map(outcome);
        delete Object.prototype.should;
        return results;
      },
    },
  });
  return all;
}
