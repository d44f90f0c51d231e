// What k6 adds in 4.3.4.0 and 4.3.4.1: each assertion is a check; 4.3.4.0 names it by its whole message, values included.
const { check } = require('k6');

if (VERSION === 40) Object.assign(config, { truncateValueThreshold: 100, truncateMsgThreshold: 300 });
else Object.assign(config, { truncateVariableThreshold: 100, truncateMsgThreshold: 300, aggregateChecks: true, logFailures: false });

const cutText = (text, most) => (text.length > most ? `${text.substring(0, most)}...` : text);
const display = (value) => cutText(objDisplay(value), VERSION === 40 ? config.truncateValueThreshold : config.truncateVariableThreshold);
const filled = (text, mark, value) => text.replace(new RegExp(`#\\{${mark}\\}`, 'g'), () => value);

/** The text of an assertion with what was expected. */
function wantedText(assertion, args) {
  let text = flag(assertion, 'negate') ? args[2] : args[1];
  if (VERSION === 41) text = text.replace('but ', '');
  const anonymize = flag(assertion, 'anonymizeMsgFunction');
  if (anonymize) text = anonymize(text);
  return (typeof text === 'function' ? text() : text) || '';
}

/** The name of the check, and the message of the error. */
function texts(assertion, args, shownValues) {
  const message = flag(assertion, 'message');
  const cut = (text) => cutText(text, config.truncateMsgThreshold);
  const wanted = wantedText(assertion, args);
  if (VERSION === 40) {
    // Each mark is filled after the one before it.
    const said = ['this', 'act', 'exp'].reduce((text, mark) => filled(text, mark, shownValues[mark]), wanted);
    const whole = cut(message ? `${message}: ${said}` : said);
    return [whole, whole];
  }
  const expected = filled(wanted, 'exp', shownValues.exp);
  const said = filled(filled(expected, 'this', shownValues.this), 'act', shownValues.act);
  const whole = message && !config.aggregateChecks ? `${message}: ${said}` : said;
  const anonymous = filled(filled(expected, 'this', message || '${this}'), 'act', '${actual}');
  return [cut(config.aggregateChecks ? anonymous : whole), cut(whole)];
}

Assertion.overwriteMethod('assert', () => function (...args) {
  const [, , , expected, given, isShown] = args;
  const holds = test(this, args);
  const showDiff = isShown !== false && !(expected === undefined && given === undefined) && config.showDiff === true;
  const actual = getActual(this, args);
  const shownValues = { this: display(flag(this, 'object')), act: display(actual), exp: display(expected) };
  const [name, message] = texts(this, args, shownValues);
  const operator = getOperator(this, args);
  const properties = { actual, expected, showDiff, ...(operator ? { operator } : {}) };
  if (VERSION === 40) {
    check(null, { [name]: Boolean(holds) });
    if (!holds) throw new AssertionError(message, properties);
    return;
  }
  check(null, { [name]: holds }, { this: shownValues.this, actual: shownValues.act, expected: shownValues.exp });
  if (holds) return;
  if (config.logFailures) console.warn(message);
  // The properties are one text, so that the error has none of these names.
  throw new AssertionError(message, JSON.stringify(properties));
});

/** Replaces the value in the texts of the assertions that follow. */
Assertion.addMethod('anonymize', function (replace) {
  flag(this, 'anonymizeMsgFunction', replace || ((text) => filled(text, 'this', '<anonymized>')));
});

/** The value is a response whose body is JSON. */
Assertion.addMethod('validJsonBody', function () {
  let isValid = true;
  try {
    flag(this, 'object').json();
  } catch {
    isValid = false;
  }
  this.assert(isValid, 'has valid json body', 'does not have a valid json body', null, null);
});
