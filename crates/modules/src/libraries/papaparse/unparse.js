// CSV of rows and objects.

function unparseOptions(config) {
  const known = { quotes: false, header: true, delimiter: ',', newline: '\r\n', quoteChar: '"', skipEmptyLines: false, columns: null };
  known.escaped = '""';
  if (typeof config !== 'object') return known;
  const { delimiter, quotes, skipEmptyLines, newline, quoteChar, header, columns, escapeChar } = config;
  const isBad = (text) => Papa.BAD_DELIMITERS.some((bad) => text.indexOf(bad) !== -1);
  if (typeof delimiter === 'string' && !isBad(delimiter)) known.delimiter = delimiter;
  if (['boolean', 'function'].includes(typeof quotes) || Array.isArray(quotes)) known.quotes = quotes;
  if (['boolean', 'string'].includes(typeof skipEmptyLines)) known.skipEmptyLines = skipEmptyLines;
  if (typeof newline === 'string') known.newline = newline;
  if (typeof quoteChar === 'string') known.quoteChar = quoteChar;
  if (typeof header === 'boolean') known.header = header;
  if (Array.isArray(columns)) {
    if (columns.length === 0) throw new Error('Option columns is empty');
    known.columns = columns;
  }
  // Another quote is written twice as "", and the escape goes in front of it: as in Papa Parse.
  if (escapeChar !== undefined) known.escaped = escapeChar + known.quoteChar;
  return known;
}

function keysOf(object) {
  const keys = [];
  if (typeof object === 'object') for (const key in object) keys.push(key);
  return keys;
}

/** A value as a field, in quotes where it needs them. */
function fieldOf(value, column, { quotes, quoteChar, escaped, delimiter }) {
  if (value === undefined || value === null) return '';
  if (value.constructor === Date) return JSON.stringify(value).slice(1, 25);
  const text = value.toString().replace(new RegExp(literal(quoteChar), 'g'), escaped);
  const isAsked = typeof quotes === 'function' ? quotes(value, column) : quotes === true || (Array.isArray(quotes) && quotes[column]);
  const needs = isAsked || Papa.BAD_DELIMITERS.some((bad) => text.indexOf(bad) > -1) || text.indexOf(delimiter) > -1 ||
    text.charAt(0) === ' ' || text.charAt(text.length - 1) === ' ';
  return needs ? quoteChar + text + quoteChar : text;
}

function writeRows(givenFields, givenData, options) {
  const fields = typeof givenFields === 'string' ? JSON.parse(givenFields) : givenFields;
  const data = typeof givenData === 'string' ? JSON.parse(givenData) : givenData;
  const { delimiter, newline, skipEmptyLines: skip } = options;
  const hasHeader = Array.isArray(fields) && fields.length > 0;
  const isNamed = !Array.isArray(data[0]);
  let csv = '';
  if (hasHeader && options.header) {
    csv += fields.map((field, at) => fieldOf(field, at, options)).join(delimiter);
    if (data.length > 0) csv += newline;
  }
  for (let at = 0; at < data.length; at += 1) {
    const row = data[at];
    const count = hasHeader ? fields.length : row.length;
    const isNull = (hasHeader ? Object.keys(row) : row).length === 0;
    let isEmpty = false;
    if (skip && !hasHeader) isEmpty = isEmptyRow(row, skip);
    const cell = (column) => row[isNamed && hasHeader ? fields[column] : column];
    const columns = Array.from({ length: count }, (_, column) => column);
    if (skip === 'greedy' && hasHeader) isEmpty = columns.map(cell).join('').trim() === '';
    if (isEmpty) continue;
    csv += columns.map((column) => fieldOf(cell(column), column, options)).join(isNull ? '' : delimiter);
    if (at < data.length - 1 && (!skip || (count > 0 && !isNull))) csv += newline;
  }
  return csv;
}

/** Rows, objects, or an object with `fields` and `data`, or their JSON. */
function unparse(given, config) {
  const options = unparseOptions(config);
  const input = typeof given === 'string' ? JSON.parse(given) : given;
  if (Array.isArray(input)) {
    if (input.length === 0 || Array.isArray(input[0])) return writeRows(null, input, options);
    if (typeof input[0] === 'object') return writeRows(options.columns || keysOf(input[0]), input, options);
  } else if (typeof input === 'object') {
    if (typeof input.data === 'string') input.data = JSON.parse(input.data);
    if (Array.isArray(input.data)) {
      const [first] = input.data;
      if (!input.fields) input.fields = input.meta && input.meta.fields;
      if (!input.fields && !Array.isArray(first)) input.fields = keysOf(first);
      if (!Array.isArray(first) && typeof first !== 'object') input.data = [input.data];
    }
    return writeRows(input.fields || [], input.data || [], options);
  }
  throw new Error('Unable to serialize unrecognized input');
}
