// `chai` with its plug-ins, and `util`, which they get.

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
  version: VERSION >= 50 ? '4.3.8' : '4.3.3',
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
