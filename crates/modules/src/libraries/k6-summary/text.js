// k6-summary: texts of the end-of-test data. The text is k6's older layout: groups and checks as a tree, then all metrics by
// name. VERSION is 1 to 4 for 0.0.1 to 0.0.4 and 10 for 0.1.0: `jUnit` differs in each of them.

const COLORS = { bold: 1, faint: 2, red: 31, green: 32, cyan: 36 };
const UNITS = { s: [0.001, 's'], ms: [1, 'ms'], us: [1000, 'µs'] };
const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];

/** The text of `handleSummary`'s data. `indent`: what each line begins with; `enableColors`: for a terminal. */
function textSummary(data, options) {
  const defaults = { indent: ' ', enableColors: true, summaryTimeUnit: null, summaryTrendStats: null };
  const all = Object.assign(defaults, data.options, options);
  const paint = (text, ...colors) => {
    const codes = colors.map((color) => COLORS[color]).join(';');
    return all.enableColors ? `\x1b[${codes}m${text}\x1b[0m` : text;
  };
  return [...groupLines(data.root_group, `${all.indent}    `, paint), ...metricLines(data.metrics, all, paint)].join('\n');
}

function groupLines(group, indent, paint) {
  const lines = [];
  let inner = indent;
  // eslint-disable-next-line eqeqeq
  if (group.name != '') {
    lines.push(`${indent}█ ${group.name}\n`);
    inner += '  ';
  }
  const { checks, groups } = group;
  for (let at = 0; at < checks.length; at += 1) lines.push(checkLine(checks[at], inner, paint));
  if (checks.length > 0) lines.push('');
  for (let at = 0; at < groups.length; at += 1) lines.push(...groupLines(groups[at], inner, paint));
  return lines;
}

function checkLine({ name, passes, fails }, indent, paint) {
  // eslint-disable-next-line eqeqeq
  if (fails == 0) return paint(`${indent}✓ ${name}`, 'green');
  const share = Math.floor((100 * passes) / (passes + fails));
  return paint(`${indent}✗ ${name}\n${indent} ↳  ${share}% — ✓ ${passes} / ✗ ${fails}`, 'red');
}

/** Metrics by name, those of a part of a metric below it. The first version has one order of all names. */
function byName(one, other) {
  const [parent, otherParent] = [one.split('{', 1)[0], other.split('{', 1)[0]];
  const order = parent.localeCompare(otherParent);
  return order === 0 ? one.slice(parent.length).localeCompare(other.slice(otherParent.length)) : order;
}

function metricLines(metrics, options, paint) {
  const { summaryTrendStats: stats, summaryTimeUnit: unit } = options;
  // Stands here for data that has no statistics: reading their number is the first thing that fails.
  const count = stats.length;
  const names = [];
  for (const name in metrics) if (Object.hasOwn(metrics, name)) names.push(name);
  const part = (name) => name.indexOf('{');
  const further = (name) => (part(name) < 0 ? '' : '  ');
  const shown = (name) => (part(name) < 0 ? name : `{ ${name.substring(part(name) + 1, name.length - 1)} }`);
  const widest = (widths) => Math.max(0, ...widths);
  const cells = new Map(names.map((name) => [name, metricCells(metrics[name], stats, unit)]));
  const rows = (kind) => [...cells.values()].filter((one) => one.kind === kind).map((one) => one.texts);
  const columns = Array.from({ length: count }, (_, at) => widest(rows('trend').map((texts) => width(texts[at]))));
  const others = [0, 1, 2].map((at) => widest(rows('other').map((texts) => width(texts[at] ?? ''))));
  const widestName = widest(names.map((name) => width(further(name) + shown(name))));
  const padded = (text, room, ...colors) => paint(text, ...colors) + ' '.repeat(room - width(text));
  const values = ({ kind, texts }) => {
    if (kind === 'trend') return texts.map((text, at) => `${stats[at]}=${padded(text, columns[at], 'cyan')}`).join(' ');
    const [main, ...extras] = texts;
    // A single value behind the main one is not padded.
    const rest = extras.map((text, at) => padded(text, extras.length === 1 ? width(text) : others[at + 1], 'cyan', 'faint'));
    return [padded(main, others[0], 'cyan'), ...rest].join(' ');
  };
  const sorted = VERSION === 1 ? names.sort() : names.sort(byName);
  return sorted.map((name) => {
    const dots = paint(`${'.'.repeat(widestName - width(shown(name)) - width(further(name)) + 3)}:`, 'faint');
    const mark = thresholdMark(metrics[name].thresholds, paint);
    return `${options.indent}  ${further(name)}${mark} ${shown(name)}${dots} ${values(cells.get(name))}`;
  });
}

function thresholdMark(thresholds, paint) {
  if (!thresholds) return ' ';
  for (const source in thresholds) {
    if (Object.hasOwn(thresholds, source) && !thresholds[source].ok) return paint('✗', 'red');
  }
  return paint('✓', 'green');
}

/** A trend's values one by one; of others the main value and those behind it. */
function metricCells(metric, stats, unit) {
  const { type, values } = metric;
  const human = (value) => humanizeValue(value, metric, unit);
  if (type === 'trend') {
    const one = (stat) => (stat === 'count' ? values[stat].toString() : human(values[stat]));
    return { kind: 'trend', texts: Array.from(stats, one) };
  }
  let texts = ['[no data]'];
  if (type === 'counter') texts = [human(values.count), `${human(values.rate)}/s`];
  if (type === 'gauge') texts = [human(values.value), `min=${human(values.min)}`, `max=${human(values.max)}`];
  if (type === 'rate') texts = [human(values.rate), `✓ ${values.passes}`, `✗ ${values.fails}`];
  return { kind: 'other', texts };
}

/** A value as the summary shows it. `unit`: s, ms or us for all durations. */
function humanizeValue(value, metric, unit) {
  // eslint-disable-next-line eqeqeq
  if (metric.type == 'rate') return `${(Math.trunc(value * 100 * 100) / 100).toFixed(2)}%`;
  switch (metric.contains) {
    case 'data':
      return bytes(value);
    case 'time':
      return unit !== '' && Object.hasOwn(UNITS, unit) ? (value * UNITS[unit][0]).toFixed(2) + UNITS[unit][1] : duration(value);
    default:
      return rounded(value, 6);
  }
}

function bytes(value) {
  if (value < 10) return `${value} B`;
  const power = Math.floor(Math.log(value) / Math.log(1000));
  const tenths = Math.floor((value / 1000 ** power) * 10 + 0.5) / 10;
  return `${tenths.toFixed(tenths < 10 ? 1 : 0)} ${SIZES[power | 0]}`;
}

function duration(ms) {
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${Math.trunc(ms * 1000000)}ns`;
  if (ms < 1) return `${truncated(ms * 1000, 2)}µs`;
  if (ms < 1000) return `${truncated(ms, 2)}ms`;
  const seconds = `${truncated((ms % 60000) / 1000, ms > 60000 ? 0 : 2)}s`;
  const minutes = Math.trunc(ms / 60000);
  if (minutes < 1) return seconds;
  const hours = Math.trunc(minutes / 60);
  return `${hours < 1 ? '' : `${hours}h`}${minutes % 60}m${seconds}`;
}

/** At most so many decimals, without zeros at the end. */
function rounded(value, decimals) {
  return parseFloat(value.toFixed(decimals)).toString();
}

function truncated(value, decimals) {
  const factor = 10 ** decimals;
  return rounded(Math.trunc(factor * value) / factor, decimals);
}

/** Columns on a terminal: code points, without escape sequences. */
function width(text) {
  return Array.from(text.normalize('NFKC').replace(/\x1b[^@-_]*(?:\[(?:[^@-~]|\[)*[^]?|[^]?)/g, '')).length;
}
