// Expectations that hold and that do not, and what a soft one does.
import { check } from 'k6';
import { colorize, expect } from 'https://jslib.k6.io/k6-testing/0.6.1/index.js';
import { expect as first } from 'https://jslib.k6.io/k6-testing/0.1.0/index.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const soft = expect.configure({ soft: true, softMode: 'throw', colorize: false });

/** The message of an expectation that does not hold; the empty text when it does. */
function said(run) {
  try {
    run();
    return '';
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

export default function () {
  const held = [
    () => soft(1).toBe(1), () => soft(NaN).toBe(NaN), () => soft(0.3).toBeCloseTo(0.1 + 0.2), () => soft('abc').toContain('bc'),
    () => soft(new Set([1])).toContain(1), () => soft([{ a: [1] }]).toContainEqual({ a: [1] }), () => soft({ a: { b: [1] } }).toHaveProperty('a.b[0]', 1),
    () => soft([1, 2]).toHaveLength(2), () => soft(new Date()).toBeInstanceOf(Date), () => soft(2n).toBeGreaterThan(1), () => soft(1).not.toBe(2),
  ];
  held.forEach((run, at) => check(said(run), { [`holds ${at}`]: (text) => text === '' }));
  const line = said(() => soft(1, 'the status').toBe(2));
  check(line, {
    'names itself': (text) => text.startsWith('AssertionFailedError: \n\n   Error: the status\n      At: /'),
    'shows both': (text) => text.includes('\n\nExpected: 2\nReceived: 1\n\n'),
    'has its place': (text) => /Filename: k6-testing\.js\n {4}Line: 27\n\n$/.test(text),
  });
  const inline = expect.configure({ soft: true, softMode: 'throw', colorize: false, display: 'inline' });
  check(said(() => inline({ a: 1 }).not.toHaveProperty('a')), {
    'on one line': (text) => text.includes('property_path=a expected_property_not_to_exist= received_object={"a":1} filename='),
  });
  check(first(1), { 'the first has no opposite': (all) => all.not === undefined && all.toContain === undefined });
  check(colorize('a', 'red'), { 'has its colour': (text) => text === '\x1b[31ma\x1b[0m' });
}
