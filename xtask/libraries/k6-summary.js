// Calls of k6-summary with generated data of a test.
const TYPES = ['counter', 'gauge', 'rate', 'trend', 'other'];
const STATS = ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'count'];
const amount = () => pick([0, 1, 0.5, 1e-7, 0.0005, 999.999, 1000, 12345.678, 60000, 60001, 3600000, 1e10, below(100000), random() * 10, 1024 ** below(6), 10 ** below(20), NaN, Infinity, -5]);
const name = () => pick([word('abc_', 8), 'http_req_duration', 'Zeta', 'ünï', 'a<b>&"\'c', 'ﬁ', '🦀', '\x1b[31mred\x1b[0m', '\x1bMx', '日本']);
const metricName = (at) => `${name()}${at}${chance(0.3) ? `{${word('xyz:,', 6)}}` : ''}`;
const metric = () => {
  const type = pick(TYPES);
  const values = Object.fromEntries([...STATS, 'value', 'rate', 'passes', 'fails'].map((key) => [key, amount()]));
  const thresholds = Object.fromEntries(many(2, () => [pick(['p(95)<200', 'rate>0.5', "a<'b'", name()]), { ok: chance(0.6) }]));
  return { type, contains: pick(['default', 'time', 'data']), values, ...(chance(0.5) ? { thresholds } : {}) };
};
const check = () => ({ name: name(), path: '', id: '', passes: below(5), fails: pick([0, 0, below(5)]) });
const tree = (depth) => ({ name: depth === 0 ? '' : name(), path: '', id: '', checks: many(3, check), groups: depth > 2 ? [] : many(2, () => tree(depth + 1)) });
const data = () => ({
  root_group: tree(0),
  metrics: Object.fromEntries([...(chance(0.5) ? ['http_reqs', 'http_reqs{a:b}', 'http_req_duration'] : []), ...many(5, metricName)].map((one) => [one, metric()])),
  options: chance(0.9) ? { summaryTrendStats: pick([STATS, ['avg', 'p(99.9)'], ['med', 'count'], []]), summaryTimeUnit: pick(['', 's', 'ms', 'us', 'x']), noColor: false } : {},
  state: { isStdOutTTY: true, isStdErrTTY: false, testRunDurationMs: 1 },
});
const settingsOf = () => pick([() => undefined, () => ({ indent: pick(['', '  ', '→']), enableColors: chance(0.5) }), () => ({ enableColors: true, summaryTimeUnit: 'ms' }), any])();

function calls() {
  return {
    humanizeValue: { count: 3 * COUNT, make: () => [chance(0.9) ? amount() : any(), chance(0.95) ? metric() : any(), pick(['', 's', 'ms', 'us', 'x', undefined, null])], run: (...args) => subject.humanizeValue(...args) },
    textSummary: { make: () => [chance(0.97) ? data() : any(), settingsOf()], run: (...args) => subject.textSummary(...args) },
    jUnit: { make: () => [chance(0.97) ? data() : any(), pick([undefined, { name: 'a & b' }, { classname: '<c>' }, { name: '', classname: "d'" }, any()])], run: (...args) => subject.jUnit(...args) },
  };
}
