// k6-summary: texts of the end-of-test data, as scripts import them from https://jslib.k6.io/k6-summary/VERSION/index.js.
// The text is k6's older layout: groups and checks as a tree, then all metrics by name.

const COLORS = { bold: 1, faint: 2, red: 31, green: 32, cyan: 36 };
const UNITS = { s: [0.001, 's'], ms: [1, 'ms'], us: [1000, 'µs'] };

/** The text of `handleSummary`'s data. `indent`: what each line begins with; `enableColors`: for a terminal. */
export function textSummary(data, { indent = ' ', enableColors = true, sortByName = true } = {}) {
  const paint = (text, ...colors) =>
    enableColors ? colors.map((color) => `\x1b[${COLORS[color]}m`).join('') + text + '\x1b[0m' : text;
  const lines = [
    ...groupLines(data.root_group, `${indent}    `, paint),
    ...metricLines(data, `${indent}  `, paint, sortByName),
  ];
  return `${lines.join('\n')}\n`;
}

function groupLines(group, indent, paint) {
  const lines = [];
  let inner = indent;
  if (group.name !== '') {
    lines.push(`${indent}█ ${group.name}`, '');
    inner += '  ';
  }
  // Older data has the checks of a group by name, newer data as a list.
  const checks = Object.values(group.checks ?? []);
  const groups = Object.values(group.groups ?? []);
  for (const { name, passes, fails } of checks) {
    if (fails === 0) {
      lines.push(paint(`${inner}✓ ${name}`, 'green'));
      continue;
    }
    const share = Math.floor((100 * passes) / (passes + fails));
    lines.push(paint(`${inner}✗ ${name}\n${inner} ↳  ${share}% — ✓ ${passes} / ✗ ${fails}`, 'red'));
  }
  if (checks.length > 0) lines.push('');
  return lines.concat(...groups.map((one) => groupLines(one, inner, paint)));
}

function metricLines(data, indent, paint, sortByName) {
  const stats = data.options?.summaryTrendStats ?? ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
  const unit = data.options?.summaryTimeUnit ?? '';
  const names = Object.keys(data.metrics);
  if (sortByName) names.sort();
  const shown = names.map((name) => {
    const at = name.indexOf('{');
    return at < 0 ? name : `{ ${name.slice(at + 1, -1)} }`;
  });
  // Those of a part of a metric stand below it, further in.
  const further = names.map((name) => (name.includes('{') ? '  ' : ''));
  const width = Math.max(0, ...shown.map((name, at) => length(further[at] + name)));
  const cells = names.map((name) => parts(data.metrics[name], stats, unit));
  const first = Math.max(0, ...cells.filter((one) => !Array.isArray(one)).map((one) => length(one.main)));
  const columns = stats.map((_, at) => Math.max(0, ...cells.filter(Array.isArray).map((one) => length(one[at]))));
  const extras = [0, 1].map((at) => Math.max(0, ...cells.map((one) => length(one.extra?.[at] ?? ''))));
  const painted = (text, width, ...colors) => paint(text, ...colors) + ' '.repeat(Math.max(0, width - length(text)));
  return names.map((name, at) => {
    const thresholds = Object.values(data.metrics[name].thresholds ?? {});
    let mark = ' ';
    if (thresholds.length > 0) {
      mark = thresholds.every(({ ok }) => ok) ? paint('✓', 'green') : paint('✗', 'red');
    }
    const dots = paint(`${'.'.repeat(width - length(further[at] + shown[at]) + 3)}:`, 'faint');
    const one = cells[at];
    const values = Array.isArray(one)
      ? one.map((text, column) => `${stats[column]}=${painted(text, columns[column], 'cyan')}`).join(' ')
      : [painted(one.main, first, 'cyan')]
        .concat(one.extra.map((text, column) => painted(text, extras[column], 'cyan', 'faint')))
        .join(' ');
    return `${indent}${further[at]}${mark} ${shown[at]}${dots} ${values.trimEnd()}`;
  });
}

/** A trend's values one by one; of others the main value and those behind it. */
function parts(metric, stats, unit) {
  const { values } = metric;
  switch (metric.type) {
    case 'trend':
      return stats.map((stat) => (stat === 'count' ? String(values.count) : humanizeValue(values[stat], metric, unit)));
    case 'counter':
      return { main: humanizeValue(values.count, metric, unit), extra: [`${humanizeValue(values.rate, metric, unit)}/s`] };
    case 'gauge':
      return {
        main: humanizeValue(values.value, metric, unit),
        extra: [`min=${humanizeValue(values.min, metric, unit)}`, `max=${humanizeValue(values.max, metric, unit)}`],
      };
    case 'rate':
      return { main: humanizeValue(values.rate, metric, unit), extra: [`✓ ${values.passes}`, `✗ ${values.fails}`] };
    default:
      return { main: '[no data]', extra: [] };
  }
}

/** A value of a metric as people read it: `1.23ms`, `4.5 kB`, `66.66%`. */
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return `${truncated(value * 100, 2)}%`;
  switch (metric.contains) {
    case 'data':
      return bytes(value);
    case 'time':
      return duration(value, timeUnit);
    default:
      return plain(value, 6);
  }
}

function bytes(value) {
  if (value < 1000) return `${plain(value, 0)} B`;
  const power = Math.min(8, Math.floor(Math.log10(value) / 3));
  const scaled = Math.floor((value / 1000 ** power) * 10 + 0.5) / 10;
  return `${scaled < 10 ? scaled.toFixed(1) : scaled.toFixed(0)} ${['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'][power]}`;
}

function duration(ms, timeUnit) {
  if (UNITS[timeUnit]) return `${(ms * UNITS[timeUnit][0]).toFixed(2)}${UNITS[timeUnit][1]}`;
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${Math.trunc(ms * 1000000)}ns`;
  if (ms < 1) return `${plain(Math.trunc(ms * 100000) / 100, 2)}µs`;
  if (ms < 1000) return `${plain(Math.trunc(ms * 100) / 100, 2)}ms`;
  const rounded = ms > 60000 ? Math.round(ms / 1000) * 1000 : Math.round(ms / 10) * 10;
  const seconds = (rounded % 60000) / 1000;
  const minutes = Math.trunc(rounded / 60000);
  if (minutes === 0) return `${plain(seconds, 3)}s`;
  const rest = `${minutes % 60}m${plain(seconds, 0)}s`;
  return minutes < 60 ? rest : `${Math.trunc(minutes / 60)}h${rest}`;
}

/** At most so many decimals, without zeros at the end. */
function plain(value, decimals) {
  return String(parseFloat(Number(value).toFixed(decimals)));
}

/** Exactly so many decimals, cut off. */
function truncated(value, decimals) {
  const factor = 10 ** decimals;
  return (Math.trunc(factor * value) / factor).toFixed(decimals);
}

function length(text) {
  return Array.from(text.normalize('NFKC')).length;
}

function xml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#039;' };
  return String(text).replace(/[&<>"']/g, (character) => entities[character]);
}

/** A JUnit report: a test case for each threshold. `name` is the suite's, `classname` that of the cases. */
export function jUnit(data, { name = 'k6 thresholds', classname = 'Unnamed folder' } = {}) {
  const cases = [];
  let failures = 0;
  for (const [metric, { thresholds }] of Object.entries(data.metrics)) {
    for (const [threshold, { ok }] of Object.entries(thresholds ?? {})) {
      const attributes = `name="${xml(metric)} - ${xml(threshold)}" classname="${xml(classname)}"`;
      if (ok) {
        cases.push(`<testcase ${attributes} />`);
      } else {
        failures += 1;
        const message = `threshold ${xml(threshold)} on metric ${xml(metric)} was not met`;
        cases.push(`<testcase ${attributes}><failure message="${message}" /></testcase>`);
      }
    }
  }
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return `<?xml version="1.0"?>\n<testsuites ${counts}>\n<testsuite name="${xml(name)}" ${counts}>${cases.join('\n')}\n` +
    '</testsuite>\n</testsuites>';
}
