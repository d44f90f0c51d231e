// What k6 adds from 4.3.4.2 on: each assertion is a check, named without values.
const { check } = require('k6');

Object.assign(config, { truncateVariableThreshold: 100, truncateMsgThreshold: 300, aggregateChecks: true, logFailures: false });
if (VERSION > 50) config.exitOnError = false;

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
  const tags = VERSION === 42 ? [Object.fromEntries(Object.entries(values).map(([key, value]) => [key, display(value)]))] : [];
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
