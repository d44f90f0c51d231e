// `jUnit` of k6-summary: a test case for each threshold. Versions before 0.1.0 write what is not well formed, and so does this.

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const xml = (text) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]);

/** What a failed threshold's case says of its metric. */
function failureText({ type, values }) {
  if (VERSION >= 4) {
    const list = Object.entries(values).map(([name, value]) => `${name} value: ${value}`);
    return `${type} threshold failed: ${list.join(', ')}`;
  }
  if (VERSION < 3) return 'failed';
  const texts = {
    counter: () => `failed, count: ${values.count}`,
    gauge: () => `failed, value: ${values.value}`,
    rate: () => `failed, number of fails: ${values.fails}`,
    trend: () => `failed, mean value: ${values.med}`,
  };
  return Object.hasOwn(texts, type) ? texts[type]() : 'failed';
}

function failedCase(name, classname, metric) {
  const text = failureText(metric);
  if (VERSION >= 10) return `<testcase name="${name}" classname="${classname}"><failure message="${xml(text)}" /></testcase>`;
  const space = VERSION >= 4 || text !== 'failed' ? '' : ' ';
  return `<testcase name="${name}"><failure message="${text}"${space}/></testcase>${VERSION >= 4 ? '"' : ''}`;
}

/** A JUnit report. `name` is the suite's, `classname` (from 0.1.0 on) that of the cases. */
function jUnit(data, options) {
  const suite = options && options.name ? xml(options.name) : 'k6 thresholds';
  const classname = options && options.classname ? xml(options.classname) : 'Unnamed folder';
  const cases = [];
  let failures = 0;
  // Older versions take missing metrics for none.
  const { metrics } = data;
  for (const [metricName, metric] of Object.entries(VERSION < 4 ? metrics ?? {} : metrics)) {
    if (!metric.thresholds) continue;
    for (const [source, { ok }] of Object.entries(metric.thresholds)) {
      const name = `${xml(metricName)} - ${xml(source)}`;
      if (!ok) failures += 1;
      const passed = VERSION >= 10 ? `<testcase name="${name}" classname="${classname}" />` : `<testcase name="${name}" />`;
      cases.push(ok ? passed : failedCase(name, classname, metric));
    }
  }
  const counts = `tests="${cases.length}" failures="${failures}"`;
  const list = cases.join('\n');
  const head = '<?xml version="1.0"?>\n';
  if (VERSION < 4) {
    return `${head}<testsuites ${counts}>\n<testsuite name="${suite}" ${counts}>${list}\n</testsuite >\n</testsuites >`;
  }
  const indent = VERSION === 4 ? '      ' : '    ';
  return `${head}${indent}<testsuites ${counts}>\n${indent}  <testsuite name="${suite}" ${counts}>\n${indent}    ${list}\n` +
    `${indent}  </testsuite>\n${indent}</testsuites>`;
}

Object.assign(exports, { humanizeValue, textSummary, jUnit });
