// Expectations are checks; what does not hold ends its case.
import { check } from 'k6';
import chai, { describe, expect } from 'https://jslib.k6.io/k6chaijs/4.5.0.0/index.js';
import { errorOf } from '../../../../../tests/lib/assert.js';

const { AssertionError } = chai;

// Cases that fail make checks that fail: those carry a name of their own.
export const options = { thresholds: { 'checks{kind:outer}': ['rate==1'] } };

const outer = (name, held) => {
  if (held !== true) console.error(`does not hold: ${name}`);
  check(null, { [name]: () => held === true }, { kind: 'outer' });
};

class Base {}
const response = (text) => ({ status: 200, json: () => JSON.parse(text) });

/** Each holds, and its opposite does not. */
const HELD = {
  equal: (e) => e(1).to.equal(1),
  'deep equal': (e) => e({ a: [1, { b: 2 }] }).to.deep.equal({ a: [1, { b: 2 }] }),
  eql: (e) => e(new Map([['a', [1]]])).to.eql(new Map([['a', [1]]])),
  'not equal': (e) => e(1).to.not.equal(2),
  a: (e) => e('x').to.be.a('string'),
  an: (e) => e([]).to.be.an('array'),
  'a null': (e) => e(null).to.be.a('null'),
  'include in a text': (e) => e('foobar').to.include('oba'),
  'include in an array': (e) => e([1, 2]).to.include(2),
  'include an object': (e) => e({ a: 1, b: 2 }).to.include({ a: 1 }),
  'deep include': (e) => e([{ a: 1 }]).to.deep.include({ a: 1 }),
  'nested include': (e) => e({ a: { b: [1, 5] } }).to.nested.include({ 'a.b[1]': 5 }),
  ok: (e) => e(1).to.be.ok,
  true: (e) => e(true).to.be.true,
  false: (e) => e(false).to.be.false,
  null: (e) => e(null).to.be.null,
  undefined: (e) => e(undefined).to.be.undefined,
  NaN: (e) => e(NaN).to.be.NaN,
  exist: (e) => e(0).to.exist,
  empty: (e) => e('').to.be.empty,
  'not empty': (e) => e({ a: 1 }).to.not.be.empty,
  above: (e) => e(2).to.be.above(1),
  least: (e) => e(2).to.be.at.least(2),
  below: (e) => e(1).to.be.below(2),
  most: (e) => e(2).to.be.at.most(2),
  within: (e) => e(2).to.be.within(1, 3),
  instanceof: (e) => e(new Base()).to.be.an.instanceof(Base),
  property: (e) => e({ a: 1 }).to.have.property('a'),
  'property of a value': (e) => e({ a: 1 }).to.have.property('a', 1),
  'nested property': (e) => e({ a: [{ b: 3 }] }).to.have.nested.property('a[0].b', 3),
  'own property': (e) => e({ a: 1 }).to.have.own.property('a'),
  lengthOf: (e) => e([1, 2]).to.have.lengthOf(2),
  'lengthOf above': (e) => e('abc').to.have.lengthOf.above(2),
  match: (e) => e('foobar').to.match(/^foo/),
  string: (e) => e('foobar').to.have.string('bar'),
  'all keys': (e) => e({ a: 1, b: 2 }).to.have.all.keys('a', 'b'),
  'any keys': (e) => e({ a: 1, b: 2 }).to.have.any.keys('a', 'z'),
  'contain keys': (e) => e({ a: 1, b: 2 }).to.contain.keys(['a']),
  throw: (e) => e(() => { throw new TypeError('bad'); }).to.throw(TypeError, 'bad'),
  'throw a text': (e) => e(() => { throw new Error('bad thing'); }).to.throw(/thing/),
  'not throw': (e) => e(() => 1).to.not.throw(),
  respondTo: (e) => e({ run() {} }).to.respondTo('run'),
  satisfy: (e) => e(4).to.satisfy((n) => n % 2 === 0),
  closeTo: (e) => e(1.5).to.be.closeTo(1, 0.5),
  members: (e) => e([1, 2, 3]).to.have.members([3, 1, 2]),
  'include members': (e) => e([1, 2, 3]).to.include.members([3, 1]),
  'ordered members': (e) => e([1, 2]).to.have.ordered.members([1, 2]),
  oneOf: (e) => e(2).to.be.oneOf([1, 2]),
  change: (e) => { const box = { n: 1 }; e(() => { box.n += 2; }).to.change(box, 'n').by(2); },
  increase: (e) => { const box = { n: 1 }; e(() => { box.n += 2; }).to.increase(box, 'n'); },
  frozen: (e) => e(Object.freeze({})).to.be.frozen,
  finite: (e) => e(1).to.be.finite,
  validJsonBody: (e) => e(response('{}')).to.have.validJsonBody(),
};

export default function () {
  for (const [name, run] of Object.entries(HELD)) {
    const error = errorOf(() => run(expect));
    if (error !== undefined) console.error(`${name}: ${error}`);
    outer(name, error === undefined);
    outer(`the opposite of ${name}`, errorOf(() => run((value) => expect(value).not)) instanceof AssertionError ||
      name.startsWith('not ') || name === 'change' || name === 'validJsonBody');
  }
  let after = false;
  const failed = describe('a case that fails', () => {
    expect(200, 'status').to.equal(200);
    expect(500, 'status').to.equal(200);
    after = true;
  });
  outer('a case that fails says so and stops', failed === false && !after);
  outer('a case that holds', describe('a case that holds', () => expect(1).to.equal(1)) === true);
  outer('invalid JSON', describe('invalid JSON', () => expect(response('{')).to.have.validJsonBody()) === false);
  const message = errorOf(() => expect([1, 'x'], 'the list').to.have.lengthOf(3)).message;
  outer('the message', message === "expected [ 1, 'x' ] to have a length of 3 got 2");
  outer('unknown words', errorOf(() => expect(1).to.be.eqaul).message === 'Invalid Chai property: eqaul. Did you mean "equal"?');
  outer('words behind methods', errorOf(() => expect(1).to.equal.foo).message === 'Invalid Chai property: equal.foo. See docs for proper usage of "equal".');
  outer('what cannot be asserted', errorOf(() => expect('a').to.be.above(1)).message === "expected 'a' to be a number or a date");
  outer('long values', errorOf(() => expect('x'.repeat(90)).to.equal(1)).message === `expected '${'x'.repeat(37)}…' to equal 1`);
  outer('an error of another code', errorOf(() => expect(Object.assign(new Error('m'), { code: 1 })).to.eql(new Error('m'))) instanceof AssertionError);
  outer('assert', errorOf(() => chai.assert.deepEqual({ a: 1 }, { a: 2 }, 'mine')).message === 'expected { a: 1 } to deeply equal { a: 2 }');
  chai.use((library) => library.Assertion.addMethod('even', function () {
    this.assert(this._obj % 2 === 0, 'expected #{this} to be even', 'expected #{this} to be odd');
  }));
  outer('a plugin', errorOf(() => expect(2).to.be.even()) === undefined);
}
