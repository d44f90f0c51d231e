// The text and the JUnit report of a test's data.
import { check } from 'k6';
import { textSummary, jUnit, humanizeValue } from 'https://jslib.k6.io/k6-summary/0.1.0/index.js';
import * as first from 'https://jslib.k6.io/k6-summary/0.0.1/index.js';
import * as second from 'https://jslib.k6.io/k6-summary/0.0.2/index.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const data = {
  options: { summaryTrendStats: ['avg', 'p(95)'], summaryTimeUnit: '', noColor: false },
  root_group: {
    name: '', path: '', id: 'd4', groups: [
      { name: 'shop', path: '::shop', id: '1', groups: [], checks: [{ name: 'status is 200', passes: 1, fails: 2 }] },
    ],
    checks: [{ name: 'up', passes: 3, fails: 0 }],
  },
  metrics: {
    vus: { type: 'gauge', contains: 'default', values: { value: 1, min: 1, max: 5 } },
    checks: { type: 'rate', contains: 'default', values: { rate: 2 / 3, passes: 4, fails: 2 }, thresholds: { 'rate>0.9': { ok: false } } },
    data_sent: { type: 'counter', contains: 'data', values: { count: 12345, rate: 67.8 } },
    http_req_duration: { type: 'trend', contains: 'time', values: { avg: 0.56677, 'p(95)': 61234 }, thresholds: { 'p(95)<70000': { ok: true } } },
    'http_req_duration{status:200}': { type: 'trend', contains: 'time', values: { avg: 1500.4, 'p(95)': 12.345 } },
  },
};

// The layout of k6 with --summary-mode=legacy; rates as its older releases have them.
const EXPECTED = `     ✓ up

     █ shop

       ✗ status is 200
        ↳  33% — ✓ 1 / ✗ 2

   ✗ checks..............: 66.66% ✓ 4    ✗ 2${'  '}
     data_sent...........: 12 kB  68 B/s
   ✓ http_req_duration...: avg=566.77µs p(95)=1m1s${'   '}
       { status:200 }....: avg=1.5s     p(95)=12.34ms
     vus.................: 1      min=1  max=5`;

export default function () {
  const text = textSummary(data, { enableColors: false });
  if (text !== EXPECTED) console.error(JSON.stringify(text));
  check(text, { 'the text': () => text === EXPECTED });
  check(textSummary(data), {
    'colours': (colored) => colored.includes('\x1b[31m') && colored.includes('\x1b[36;2m') && colored.replace(/\x1b\[[\d;]+m/g, '') === EXPECTED,
  });
  const named = (name) => ({ [name]: { type: 'counter', contains: 'default', values: { count: 1, rate: 1 } } });
  const isGrouped = (library) => {
    const text = library.textSummary({ ...data, metrics: { ...named('a_'), ...named('a{x:1}'), ...named('a') } }, { enableColors: false });
    return text.indexOf('{ x:1 }') < text.indexOf('a_');
  };
  check(null, { 'the first version has one order, later ones group by metric': () => !isGrouped(first) && isGrouped(second) });
  const report = jUnit(data, { name: 'shop', classname: 'a "class"' });
  check(report, {
    'the report': () => report === `<?xml version="1.0"?>
    <testsuites tests="2" failures="1">
      <testsuite name="shop" tests="2" failures="1">
        <testcase name="checks - rate&gt;0.9" classname="a &quot;class&quot;"><failure message="rate threshold failed: rate value: ${2 / 3}, passes value: 4, fails value: 2" /></testcase>
<testcase name="http_req_duration - p(95)&lt;70000" classname="a &quot;class&quot;" />
      </testsuite>
    </testsuites>`,
    'that of the first version': () => first.jUnit(data).includes('<testcase name="checks - rate&gt;0.9"><failure message="failed" /></testcase>'),
  });
  check(humanizeValue(1234567, { type: 'counter', contains: 'data' }), { 'bytes': (found) => found === '1.2 MB' });
}
