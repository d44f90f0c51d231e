// What functions throw and change, methods, members, closeness, states of objects.

const describeThrown = (thrown) => (thrown instanceof Error ? thrown.toString() : thrown && checkError.getConstructorName(thrown));

/** Catches what the function throws, and judges its kind and its message one after the other. */
function throws(kindOrText, text, message) {
  withMessage(this, message);
  const run = flag(this, 'object');
  also(this, run).is.a('function');
  const isText = kindOrText instanceof RegExp || typeof kindOrText === 'string';
  const wanted = { kind: isText ? null : kindOrText, text: isText ? kindOrText : text };
  let thrown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  const negate = flag(this, 'negate') || false;
  const isAny = wanted.kind === undefined && wanted.text === undefined;
  if (isAny || !negate) assertThrown(this, thrown, wanted.kind);
  // With `not`, a kind and a text, one of both may fit.
  const both = Boolean(wanted.kind && wanted.text) && negate;
  const isKind = assertKind(this, thrown, wanted.kind, negate, both);
  const isSaid = assertSaid(this, thrown, wanted.text, negate, both);
  if (isKind && isSaid) assertOther(this, thrown, wanted.kind, negate, Boolean(thrown));
  flag(this, 'object', thrown);
}

function assertThrown(assertion, thrown, kind) {
  let name = 'an error';
  if (kind instanceof Error) name = '#{exp}';
  else if (kind) name = checkError.getConstructorName(kind);
  const texts = [`expected #{this} to throw ${name}`, 'expected #{this} to not throw an error but #{act} was thrown'];
  const actual = typeof thrown === 'string' ? thrown : describeThrown(thrown);
  assertion.assert(thrown, ...texts, kind && kind.toString(), actual);
}

function assertOther(assertion, thrown, kind, negate, isSaid) {
  const texts = ['expected #{this} to throw #{exp} but #{act} was thrown'];
  texts.push(`expected #{this} to not throw #{exp}${isSaid ? ' but #{act} was thrown' : ''}`);
  assertion.assert(negate, ...texts, describeThrown(kind), describeThrown(thrown));
}

/** Whether the kind fits where it must not, which the text has still to confirm. */
function assertKind(assertion, thrown, kind, negate, both) {
  if (!kind || !thrown) return false;
  let isLeft = false;
  if (kind instanceof Error && checkError.compatibleInstance(thrown, kind) === negate) {
    if (both) isLeft = true;
    else {
      const texts = ['expected #{this} to throw #{exp} but #{act} was thrown'];
      texts.push(`expected #{this} to not throw #{exp}${negate ? '' : ' but #{act} was thrown'}`);
      assertion.assert(negate, ...texts, kind.toString(), thrown.toString());
    }
  }
  if (checkError.compatibleConstructor(thrown, kind) !== negate) return isLeft;
  if (!both) assertOther(assertion, thrown, kind, negate, true);
  return both;
}

function assertSaid(assertion, thrown, text, negate, both) {
  if (!thrown || text === undefined || text === null) return false;
  if (checkError.compatibleMessage(thrown, text) !== negate) return false;
  if (both) return true;
  const how = text instanceof RegExp ? 'matching' : 'including';
  const texts = [`expected #{this} to throw error ${how} #{exp} but got #{act}`, `expected #{this} to throw error not ${how} #{exp}`];
  assertion.assert(negate, ...texts, text, checkError.getMessage(thrown));
  return false;
}
for (const name of ['throw', 'throws', 'Throw']) Assertion.addMethod(name, throws);

method(['respondTo', 'respondsTo'], 1, function (name) {
  const value = flag(this, 'object');
  const isClass = typeof value === 'function' && !flag(this, 'itself');
  const found = isClass ? value.prototype[name] : value[name];
  const text = `respond to ${inspect(name)}`;
  this.assert(typeof found === 'function', `expected #{this} to ${text}`, `expected #{this} to not ${text}`);
});
flags('itself', { itself: true });
method(['satisfy', 'satisfies'], 1, function (holds) {
  const outcome = holds(flag(this, 'object'));
  const name = objDisplay(holds);
  // Without a space, as in Chai.
  const texts = [`expected #{this} to satisfy ${name}`, `expected #{this} to not satisfy${name}`];
  this.assert(outcome, ...texts, !flag(this, 'negate'), outcome);
});

method(['closeTo', 'approximately'], 2, function (wanted, delta) {
  const value = flag(this, 'object');
  also(this, value).is.a('number');
  if (typeof wanted !== 'number' || typeof delta !== 'number') {
    const missing = delta === undefined ? ', and a delta is required' : '';
    throw unfit(this, `the arguments to closeTo or approximately must be numbers${missing}`);
  }
  const text = `to be close to ${wanted} +/- ${delta}`;
  this.assert(Math.abs(value - wanted) <= delta, `expected #{this} ${text}`, `expected #{this} not ${text}`);
});

/** Whether all of `part` are in `whole`: each in its own place, at the same place, or with `contains` anywhere. */
function isPart(part, whole, { same, contains, ordered }) {
  if (!contains && part.length !== whole.length) return false;
  const left = contains ? whole : whole.slice();
  const equalItems = same ?? ((item, other) => item === other);
  return part.every((item, place) => {
    if (ordered) return equalItems(item, left[place]);
    const at = same ? left.findIndex((other, index) => index in left && same(item, other)) : left.indexOf(item);
    if (at !== -1 && !contains) left.splice(at, 1);
    return at !== -1;
  });
}

method(['members'], 1, function (part) {
  const whole = flag(this, 'object');
  also(this, whole).to.be.an('array');
  also(this, part).to.be.an('array');
  const [contains, ordered] = ['contains', 'ordered'].map((key) => flag(this, key));
  const same = flag(this, 'deep') ? eqlOf(this) : undefined;
  let text = `have the same ${ordered ? 'ordered ' : ''}members as #{exp}`;
  if (contains) text = `be ${ordered ? 'an ordered' : 'a'} superset of #{exp}`;
  const holds = isPart(part, whole, { same, contains, ordered });
  this.assert(holds, `expected #{this} to ${text}`, `expected #{this} to not ${text}`, part, whole, true);
});

method(['oneOf'], 1, function (list) {
  const value = flag(this, 'object');
  also(this, list).to.be.an('array');
  let [holds, text, inverted] = [(one) => one === value, 'be one of #{exp}', 'not be one of #{exp}'];
  if (flag(this, 'contains')) {
    [holds, text, inverted] = [(one) => value.indexOf(one) > -1, 'contain one of #{exp}', 'not contain one of #{exp}'];
  } else if (flag(this, 'deep')) {
    // Chai's text is the same with `not`.
    [holds, text, inverted] = [(one) => eqlOf(this)(value, one), 'deeply equal one of #{exp}', 'deeply equal one of #{exp}'];
  }
  this.assert(list.some(holds), `expected #{this} to ${text}`, `expected #{this} to ${inverted}`, list, value);
});

/** What a call does to a value: `change`, `increase`, `decrease`. `by` reads what it leaves in flags. */
function effect(names, word, holds, delta) {
  method(names, 2, function (subject, name) {
    const run = flag(this, 'object');
    also(this, run).is.a('function');
    if (name) also(this, subject).to.have.property(name);
    else also(this, subject).is.a('function');
    const before = name ? subject[name] : subject();
    if (word !== 'change') also(this, before).is.a('number');
    run();
    const isFunction = name === undefined || name === null;
    const after = isFunction ? subject() : subject[name];
    const what = isFunction ? before : `.${name}`;
    const left = { deltaMsgObj: what, initialDeltaValue: before, finalDeltaValue: after, deltaBehavior: word };
    for (const [key, value] of Object.entries(left)) flag(this, key, value);
    flag(this, 'realDelta', delta(before, after));
    this.assert(holds(before, after), 'expected ' + what + ` to ${word}`, 'expected ' + what + ` to not ${word}`);
  });
}
effect(['change', 'changes'], 'change', (before, after) => before !== after, (before, after) => after !== before);
effect(['increase', 'increases'], 'increase', (before, after) => after - before > 0, (before, after) => after - before);
effect(['decrease', 'decreases'], 'decrease', (before, after) => after - before < 0, (before, after) => before - after);

method(['by'], 1, function (delta) {
  const left = ['deltaMsgObj', 'initialDeltaValue', 'finalDeltaValue', 'deltaBehavior', 'realDelta'].map((key) => flag(this, key));
  const [what, before, after, word, real] = left;
  const size = word === 'change' ? Math.abs(after - before) : real;
  const texts = ['expected ' + what + ` to ${word} by ` + delta, 'expected ' + what + ` to not ${word} by ` + delta];
  this.assert(size === Math.abs(delta), ...texts);
});

state('extensible', (value) => isObject(value) && Object.isExtensible(value), 'to be extensible', 'to not be extensible');
state('sealed', (value) => !isObject(value) || Object.isSealed(value), 'to be sealed', 'to not be sealed');
state('frozen', (value) => !isObject(value) || Object.isFrozen(value), 'to be frozen', 'to not be frozen');
state('finite', (value) => Number.isFinite(value), 'to be a finite number', 'to not be a finite number');
