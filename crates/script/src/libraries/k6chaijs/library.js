// The whole: `chai` with its plug-ins, and what k6 adds: each assertion is a check, `describe` is a group.
const { check, group } = require('k6');

const test = (assertion, args) => (flag(assertion, 'negate') ? !args[0] : args[0]);
const getActual = (assertion, args) => (args.length > 4 ? args[4] : assertion._obj);

/** The text of an assertion with its values. */
function getMessage(assertion, args) {
  const value = flag(assertion, 'object');
  const text = flag(assertion, 'negate') ? args[2] : args[1];
  const said = ((typeof text === 'function' ? text() : text) || '')
    .replace(/#\{this\}/g, () => objDisplay(value))
    .replace(/#\{act\}/g, () => objDisplay(getActual(assertion, args)))
    .replace(/#\{exp\}/g, () => objDisplay(args[3]));
  return prefixed(assertion, said);
}

/** The name of the comparison in `assert` of Node. */
function getOperator(assertion, args) {
  const known = flag(assertion, 'operator');
  const text = flag(assertion, 'negate') ? args[2] : args[1];
  if (known) return known;
  const said = (typeof text === 'function' ? text() : text) || '';
  if (said === '' || /\shave\s/.test(said)) return undefined;
  const deep = ['Array', 'Object', 'function'].includes(type(args[3]));
  if (/\snot\s/.test(said)) return deep ? 'notDeepStrictEqual' : 'notStrictEqual';
  return deep ? 'deepStrictEqual' : 'strictEqual';
}

/** Refuses a value that has none of the types. */
function expectTypes(assertion, types) {
  const names = types.map((name) => name.toLowerCase()).sort();
  const found = type(flag(assertion, 'object')).toLowerCase();
  if (names.includes(found)) return;
  const list = names.map((name, at) => `${names.length > 1 && at === names.length - 1 ? 'or ' : ''}${article(name)}`).join(', ');
  throw unfit(assertion, `object tested must be ${list}, but ${found} given`);
}

const util = {
  test, type, expectTypes, getMessage, getActual, inspect, objDisplay, flag, transferFlags, eql, getPathInfo, hasProperty, getName,
  addProperty, addMethod, overwriteProperty, overwriteMethod, addChainableMethod, overwriteChainableMethod, compareByInspect,
  getOwnEnumerablePropertySymbols, getOwnEnumerableProperties, checkError, proxify, addLengthGuard, isProxyEnabled,
  isNaN: Number.isNaN, getOperator,
};

const plugins = [];
const chai = {
  version: EDITION >= 50 ? '4.3.8' : '4.3.3',
  AssertionError,
  use(plugin) {
    if (!plugins.includes(plugin)) {
      plugin(chai, util);
      plugins.push(plugin);
    }
    return chai;
  },
  util, config, Assertion, expect, should, Should: should, assert,
};

Object.assign(config, { truncateVariableThreshold: 100, truncateMsgThreshold: 300, aggregateChecks: true, logFailures: false });
if (EDITION > 50) config.exitOnError = false;

const cutText = (text) => (text.length > config.truncateVariableThreshold ? `${text.substring(0, config.truncateVariableThreshold)}...` : text);
const display = (value) => cutText(objDisplay(value));

/** The text of an assertion with what was expected; what was found is still to come. */
function wantedText(assertion, args) {
  let text = (flag(assertion, 'negate') ? args[2] : args[1]).replace('but ', '');
  const anonymize = flag(assertion, 'anonymizeMsgFunction');
  if (anonymize) text = anonymize(text);
  return ((typeof text === 'function' ? text() : text) || '').replace(/#\{exp\}/g, () => display(args[3]));
}

function foundText(assertion, text, actual) {
  const found = text.replace(/#\{this\}/g, () => display(flag(assertion, 'object'))).replace(/#\{act\}/g, () => display(actual));
  const message = flag(assertion, 'message');
  return message && !config.aggregateChecks ? `${message}: ${found}` : found;
}

/** Without values, so that there are as many checks as assertions: the message stands for the value. */
function checkName(assertion, text) {
  const message = flag(assertion, 'message');
  return cutText(text.replace(/#\{this\}/g, () => message || '${this}').replace(/#\{act\}/g, () => '${actual}'));
}

/** An assertion is a check, and throws when it does not hold. */
Assertion.overwriteMethod('assert', () => function (holds, text, inverted, expected, actual) {
  const showDiff = !expected && !actual;
  const args = [holds, text, inverted, expected, actual, showDiff];
  const outcome = test(this, args);
  const wanted = wantedText(this, args);
  const message = foundText(this, wanted, actual);
  const name = config.aggregateChecks ? checkName(this, wanted) : message;
  // The oldest of these versions tags the check with the values.
  const values = { this: flag(this, 'object'), actual, expected };
  const tags = EDITION === 42 ? [Object.fromEntries(Object.entries(values).map(([key, value]) => [key, display(value)]))] : [];
  check(null, { [name]: () => outcome }, ...tags);
  if (outcome) return;
  const said = cutText(message);
  const operator = getOperator(this, args);
  if (config.logFailures) console.warn(said);
  if (config.exitOnError) require('k6/execution').test.abort(said);
  throw new AssertionError(said, { actual, expected, showDiff, operator });
});

/** Replaces the value in the texts of the assertions that follow. */
Assertion.addMethod('anonymize', function (replace = (text) => text.replace(/#\{this\}/g, () => '<anonymized>')) {
  flag(this, 'anonymizeMsgFunction', replace);
});

/** The value is a response whose body is JSON. `not` changes nothing, as in k6. */
Assertion.addMethod('validJsonBody', function () {
  let isValid = true;
  try {
    flag(this, 'object').json('no.such.selector');
  } catch {
    isValid = false;
  }
  assert(isValid, 'has valid json body');
});

/** Runs a case as a group: false when an assertion did not hold or something was thrown, which is a check too. */
function describe(name, run) {
  let passed = true;
  group(name, () => {
    try {
      run();
    } catch (error) {
      passed = false;
      if (error.name === 'AssertionError') return;
      console.error(`Exception raised in test "${name}". Failing the test and continuing. \n${error}`);
      check(null, { [`Exception raised "${error}"`]: () => false });
    }
  });
  return passed;
}

module.exports = Object.defineProperty({ default: chai, describe, expect: chai.expect }, '__esModule', { value: true });
