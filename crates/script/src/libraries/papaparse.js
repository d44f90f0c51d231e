// Papa Parse: CSV to values and back, as scripts import it from https://jslib.k6.io/papaparse/VERSION/index.js.
// What reads files, URLs and streams in browsers is not here: a test has its text from `open`.

const BOM = '\ufeff';
const GUESSED = [',', '\t', '|', ';', '\x1e', '\x1f'];

/** `{ data, errors, meta }` of a text. */
function parse(input, config = {}) {
  let text = String(input);
  if (text.startsWith(BOM)) text = text.slice(1);
  const errors = [];
  const quote = config.quoteChar === undefined ? '"' : config.quoteChar;
  const linebreak = config.newline || guessLinebreak(text, quote);
  let delimiter = typeof config.delimiter === 'function' ? config.delimiter(text) : config.delimiter;
  if (!delimiter || ['\r', '\n', '"', BOM].includes(delimiter)) {
    delimiter = guessDelimiter(text, linebreak, quote, config);
    if (delimiter === undefined) {
      delimiter = ',';
      errors.push({
        type: 'Delimiter',
        code: 'UndetectableDelimiter',
        message: "Unable to auto-detect delimiting character; defaulted to ','",
      });
    }
  }
  const meta = { delimiter, linebreak, aborted: false, truncated: false, cursor: 0 };
  const control = { abort: () => { meta.aborted = true; }, pause: refuse('pause'), resume: refuse('resume') };
  const read = { delimiter, linebreak, quote, escape: config.escapeChar ?? quote, comments: config.comments };
  const data = [];
  let fields;
  let index = 0;
  const emptiness = config.skipEmptyLines;
  const isSkipped = (row) =>
    (emptiness === 'greedy' && row.join('').trim() === '') || (emptiness && row.length === 1 && row[0].length === 0);
  const most = config.preview > 0 ? config.preview : Infinity;
  for (const { row, problems, cursor } of rows(text, read)) {
    if (index >= most) {
      meta.truncated = true;
      break;
    }
    meta.cursor = cursor;
    if (isSkipped(row)) continue;
    if (config.header && fields === undefined) {
      fields = row.map((name, at) => (config.transformHeader ? config.transformHeader(name, at) : name));
      meta.fields = fields;
      continue;
    }
    const rowErrors = problems.map((problem) => ({ ...problem, row: index }));
    if (fields !== undefined && row.length !== fields.length) {
      const few = row.length < fields.length;
      rowErrors.push({
        type: 'FieldMismatch',
        code: few ? 'TooFewFields' : 'TooManyFields',
        message: `Too ${few ? 'few' : 'many'} fields: expected ${fields.length} fields but parsed ${row.length}`,
        row: index,
      });
    }
    const value = shaped(row, fields, config);
    index += 1;
    errors.push(...rowErrors);
    if (typeof config.step === 'function') {
      config.step({ data: value, errors: rowErrors, meta }, control);
      if (meta.aborted) break;
    } else {
      data.push(value);
    }
  }
  const results = { data, errors, meta };
  if (typeof config.complete === 'function') config.complete(results);
  return results;
}

function refuse(name) {
  return () => {
    throw new Error(`Papa.parse: ${name}() is for streams; here the whole text is read at once`);
  };
}

/** The rows of a text, each with what is wrong in it. */
function* rows(text, { delimiter, linebreak, quote, escape, comments }) {
  const comment = comments === true ? '#' : comments;
  let at = 0;
  while (at < text.length) {
    if (comment && text.startsWith(comment, at)) {
      const end = text.indexOf(linebreak, at);
      if (end < 0) return;
      at = end + linebreak.length;
      continue;
    }
    const row = [];
    const problems = [];
    let ended = false;
    while (!ended) {
      let value;
      if (quote !== null && quote !== '' && text.startsWith(quote, at)) {
        [value, at] = quoted(text, at, { delimiter, linebreak, quote, escape }, problems);
      } else {
        const end = nearest(text, at, delimiter, linebreak);
        value = text.slice(at, end);
        at = end;
      }
      row.push(value);
      if (at < text.length && text.startsWith(delimiter, at)) {
        at += delimiter.length;
        // A delimiter at the very end leaves an empty field behind it.
        if (at === text.length) {
          row.push('');
          ended = true;
        }
      } else {
        ended = true;
        at += linebreak.length;
      }
    }
    yield { row, problems, cursor: Math.min(at, text.length) };
  }
  // A line break at the end is followed by an empty line.
  if (text.endsWith(linebreak)) yield { row: [''], problems: [], cursor: text.length };
}

function nearest(text, from, ...needles) {
  const found = needles.map((needle) => text.indexOf(needle, from)).filter((at) => at >= 0);
  return found.length === 0 ? text.length : Math.min(...found);
}

/** The field that a quote opens at `start`, and where it ends. */
function quoted(text, start, { delimiter, linebreak, quote, escape }, problems) {
  let value = '';
  let at = start + quote.length;
  for (;;) {
    const close = text.indexOf(quote, at);
    const escaped = escape === quote ? -1 : text.indexOf(escape + quote, at);
    if (escaped >= 0 && escaped < close) {
      value += text.slice(at, escaped) + quote;
      at = escaped + escape.length + quote.length;
      continue;
    }
    if (close < 0) {
      problems.push({ type: 'Quotes', code: 'MissingQuotes', message: 'Quoted field unterminated', index: start });
      return [value + text.slice(at), text.length];
    }
    value += text.slice(at, close);
    at = close + quote.length;
    if (escape === quote && text.startsWith(quote, at)) {
      value += quote;
      at += quote.length;
      continue;
    }
    const spaces = /^ */.exec(text.slice(at, at + 64))[0].length;
    const end = at + spaces;
    if (end >= text.length || text.startsWith(delimiter, end) || text.startsWith(linebreak, end)) return [value, end];
    problems.push({
      type: 'Quotes',
      code: 'InvalidQuotes',
      message: 'Trailing quote on quoted field is malformed',
      index: close,
    });
    value += quote;
  }
}

function guessLinebreak(text, quote) {
  const start = text.slice(0, 1 << 20);
  const plain = quote ? start.replaceAll(new RegExp(`${escaped(quote)}[^]*?${escaped(quote)}`, 'g'), '') : start;
  const pieces = plain.split('\r');
  const parts = plain.split('\n');
  if (pieces.length === 1 || (parts.length > 1 && parts[0].length < pieces[0].length)) return '\n';
  const pairs = pieces.filter((piece) => piece.startsWith('\n')).length;
  return pairs >= pieces.length / 2 ? '\r\n' : '\r';
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The delimiter by which the first ten rows have as many fields as each other, and the most. */
function guessDelimiter(text, linebreak, quote, config) {
  let best;
  for (const delimiter of config.delimitersToGuess || GUESSED) {
    let sum = 0;
    let change = 0;
    let count = 0;
    let before;
    for (const { row } of rows(text, { delimiter, linebreak, quote, escape: config.escapeChar ?? quote, comments: config.comments })) {
      if (count === 10) break;
      if (config.skipEmptyLines && row.length === 1 && row[0] === '') continue;
      count += 1;
      sum += row.length;
      if (before !== undefined && row.length > 0) change += Math.abs(row.length - before);
      before = row.length;
    }
    const mean = count === 0 ? 0 : sum / count;
    if (mean > 1.99 && (best === undefined || change < best.change || (change === best.change && mean > best.mean))) {
      best = { delimiter, change, mean };
    }
  }
  return best?.delimiter;
}

const NUMBER = /^\s*-?(\d+\.?|\.\d+|\d+\.\d+)([eE][-+]?\d+)?\s*$/;
const DATE = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?([+-][0-2]\d:[0-5]\d|Z)$/;

/** A text as the number, truth value or date that it is. */
function typed(text) {
  if (text === 'true' || text === 'TRUE') return true;
  if (text === 'false' || text === 'FALSE') return false;
  if (NUMBER.test(text)) {
    const number = parseFloat(text);
    // Beyond, digits would be lost.
    if (Math.abs(number) < 2 ** 53) return number;
  }
  if (DATE.test(text)) return new Date(text);
  return text === '' ? null : text;
}

function shaped(row, fields, config) {
  const { dynamicTyping, transform } = config;
  const isTyped = (name) => {
    if (typeof dynamicTyping === 'function') return dynamicTyping(name);
    return dynamicTyping === true || (dynamicTyping && typeof dynamicTyping === 'object' && dynamicTyping[name]);
  };
  const convert = (text, name) => {
    const value = transform ? transform(text, name) : text;
    return isTyped(name) && typeof value === 'string' ? typed(value) : value;
  };
  if (fields === undefined) return row.map((text, at) => convert(text, at));
  const value = {};
  row.forEach((text, at) => {
    if (at < fields.length) value[fields[at]] = convert(text, fields[at]);
    else (value.__parsed_extra ??= []).push(convert(text, '__parsed_extra'));
  });
  return value;
}

/** CSV of rows, of objects, or of `{ fields, data }`; also of their JSON. */
function unparse(input, config = {}) {
  const { delimiter = ',', newline = '\r\n', quoteChar = '"', quotes = false, header = true, skipEmptyLines } = config;
  const escape = config.escapeChar ?? quoteChar;
  let values = typeof input === 'string' ? JSON.parse(input) : input;
  let fields = config.columns;
  if (!Array.isArray(values)) {
    fields = values.fields || values.meta?.fields || fields;
    values = values.data;
    if (!Array.isArray(values)) throw new Error('Unable to serialize unrecognized input');
  }
  const isOfObjects = values.length > 0 && !Array.isArray(values[0]) && typeof values[0] === 'object';
  if (fields === undefined && isOfObjects) fields = Object.keys(values[0]);
  const cell = (value, column) => {
    if (value === undefined || value === null) return '';
    const text = value instanceof Date ? JSON.stringify(value).slice(1, 25) : String(value);
    const isAsked = typeof quotes === 'function' ? quotes(value, column) : Array.isArray(quotes) ? quotes[column] : quotes;
    const isNeeded = [quoteChar, delimiter, '\r', '\n', BOM].some((part) => text.includes(part));
    const hasEdges = text.startsWith(' ') || text.endsWith(' ');
    return isAsked || isNeeded || hasEdges
      ? quoteChar + text.replaceAll(quoteChar, escape + quoteChar) + quoteChar
      : text;
  };
  const lines = [];
  if (fields !== undefined && header && fields.length > 0) lines.push(fields.map(cell).join(delimiter));
  for (const value of values) {
    const row = Array.isArray(value) ? value : (fields ?? Object.keys(value)).map((name) => value[name]);
    const text = row.map(cell).join(delimiter);
    const isEmpty = skipEmptyLines === 'greedy' ? row.join('').trim() === '' : row.length === 1 && row[0]?.length === 0;
    if (!(skipEmptyLines && isEmpty)) lines.push(text);
  }
  return lines.join(newline);
}

const Papa = {
  parse,
  unparse,
  RECORD_SEP: '\x1e',
  UNIT_SEP: '\x1f',
  BYTE_ORDER_MARK: BOM,
  BAD_DELIMITERS: ['\r', '\n', '"', BOM],
  DefaultDelimiter: ',',
};

export { parse, unparse };
export default Papa;
