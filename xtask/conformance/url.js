// The URL Standard's tests against the class that scripts import: a line for each test that differs, and how many do not.
import { URL } from 'https://jslib.k6.io/url/1.0.0/index.js';

const PARTS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const addresses = JSON.parse(open(`${__ENV.TESTS}/urltestdata.json`)).filter((one) => typeof one === 'object');
const changes = JSON.parse(open(`${__ENV.TESTS}/setters_tests.json`));

/** As Rust writes a text out, in which the list of known differences is. */
function written(text) {
  const known = { '\t': '\\t', '\r': '\\r', '\n': '\\n', "'": "\\'", '"': '\\"', '\\': '\\\\' };
  return Array.from(text, (letter) => known[letter] ?? (letter >= ' ' && letter <= '~' ? letter : `\\u{${letter.codePointAt(0).toString(16)}}`)).join('');
}

function parsed(one) {
  try {
    return new URL(one.input, one.base ?? undefined);
  } catch {
    return null;
  }
}

function isRead(one) {
  const url = parsed(one);
  if (one.failure || !url) return Boolean(one.failure) === !url;
  const query = one.searchParams === undefined || url.searchParams.toString() === one.searchParams;
  return query && PARTS.every((part) => one[part] === undefined || url[part] === one[part]);
}

function isChanged(part, one) {
  const url = new URL(one.href);
  try {
    url[part] = one.new_value;
  } catch {
    if (part !== 'href') return false;
  }
  return Object.entries(one.expected).every(([part, value]) => url[part] === value);
}

export default function () {
  let same = 0;
  const judge = (name, isSame) => (isSame ? (same += 1) : console.log(`differs ${name}`));
  for (const one of addresses) {
    const base = one.base === null || one.base === undefined ? '' : ` against <${written(one.base)}>`;
    judge(`<${written(one.input)}>${base}`, isRead(one));
  }
  for (const [part, list] of Object.entries(changes)) {
    if (!PARTS.includes(part)) continue;
    for (const one of list) judge(`<${written(one.href)}> set ${part} to <${written(one.new_value)}>`, isChanged(part, one));
  }
  console.log(`same ${same}`);
}
