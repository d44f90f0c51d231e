// What becomes of rows: names from the header, types, transformations, guesses of the delimiter and of line breaks.

const FLOAT = /^\s*-?(?:\d*\.?\d+|\d+\.?\d*)(?:e[-+]?\d+)?\s*$/i;
const MOMENT = /\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:[+-][0-2]\d:[0-5]\d|Z)/;
const LARGEST = 2 ** 53;

/** Objects and arrays all the way down; functions stay. */
function copyOf(value) {
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value) ? [] : {};
  for (const key in value) copy[key] = copyOf(value[key]);
  return copy;
}

function isEmptyRow(row, skip) {
  return skip === 'greedy' ? row.join('').trim() === '' : row.length === 1 && row[0].length === 0;
}

/** Rows of the same length, and more of them, speak for a delimiter. */
function guessDelimiter(input, { newline, skipEmptyLines, comments, delimitersToGuess }) {
  let best;
  for (const delimiter of delimitersToGuess || [',', '\t', '|', ';', Papa.RECORD_SEP, Papa.UNIT_SEP]) {
    const { data } = new Parser({ comments, delimiter, newline, preview: 10 }).parse(input);
    const lengths = data.filter((row) => !(skipEmptyLines && isEmptyRow(row, skipEmptyLines))).map((row) => row.length);
    const change = lengths.slice(1).reduce((sum, length, at) => sum + Math.abs(length - lengths[at]), 0);
    const fields = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    if (fields > 1.99 && (!best || (change <= best.change && fields > best.fields))) best = { delimiter, change, fields };
  }
  return best && best.delimiter;
}

function guessNewline(input, quoteChar) {
  const quoted = new RegExp(`${literal(quoteChar)}[^]*?${literal(quoteChar)}`, 'g');
  const text = input.substring(0, 1024 * 1024).replace(quoted, '');
  const pieces = text.split('\r');
  const first = text.indexOf('\n');
  if (pieces.length === 1 || (first !== -1 && first < pieces[0].length)) return '\n';
  const both = pieces.filter((piece) => piece[0] === '\n').length;
  return both >= pieces.length / 2 ? '\r\n' : '\r';
}

/** Parses texts with one config; what `step` and `chunk` get to pause, resume and abort. */
class ParserHandle {
  #config;
  #input;
  #parser;
  #isPaused = false;
  #isAborted = false;
  #hasNoDelimiter = false;
  #fields = [];
  #steps = 0;
  #rows = 0;
  #results = { data: [], errors: [], meta: {} };

  constructor(config) {
    this.#config = config;
    const { step } = config;
    if (typeof step === 'function') config.step = (results) => this.#step(results, step);
    // Scripts pass these on as functions.
    for (const name of ['parse', 'paused', 'pause', 'resume', 'aborted', 'abort']) this[name] = this[name].bind(this);
  }

  parse(input, baseIndex, isPartial) {
    const config = this.#config;
    if (!config.newline) config.newline = guessNewline(input, config.quoteChar || '"');
    this.#hasNoDelimiter = false;
    if (!config.delimiter) {
      const guessed = guessDelimiter(input, config);
      this.#hasNoDelimiter = !guessed;
      config.delimiter = guessed || Papa.DefaultDelimiter;
      this.#results.meta.delimiter = config.delimiter;
    } else if (typeof config.delimiter === 'function') {
      config.delimiter = config.delimiter(input);
      this.#results.meta.delimiter = config.delimiter;
    }
    const forParser = copyOf(config);
    // The header is a row too.
    if (config.preview && config.header) forParser.preview += 1;
    this.#input = input;
    this.#parser = new Parser(forParser);
    this.#results = this.#parser.parse(input, baseIndex, isPartial);
    this.#process();
    return this.#isPaused ? { meta: { paused: true } } : this.#results || { meta: { paused: false } };
  }

  paused() {
    return this.#isPaused;
  }

  pause() {
    this.#isPaused = true;
    this.#parser.abort();
    const isChunked = typeof this.#config.chunk === 'function';
    this.#input = isChunked ? '' : this.#input.substring(this.#parser.getCharIndex());
  }

  resume() {
    if (!this.streamer._halted) {
      setTimeout(this.resume, 3);
      return;
    }
    this.#isPaused = false;
    this.streamer.parseChunk(this.#input, true);
  }

  aborted() {
    return this.#isAborted;
  }

  abort() {
    this.#isAborted = true;
    this.#parser.abort();
    this.#results.meta.aborted = true;
    if (typeof this.#config.complete === 'function') this.#config.complete(this.#results);
    this.#input = '';
  }

  #step(results, step) {
    this.#results = results;
    const isHeader = this.#needsHeader();
    this.#process();
    if (isHeader || this.#results.data.length === 0) return;
    this.#steps += results.data.length;
    if (this.#config.preview && this.#steps > this.#config.preview) {
      this.#parser.abort();
    } else {
      [this.#results.data] = this.#results.data;
      step(this.#results, this);
    }
  }

  #needsHeader() {
    return this.#config.header && this.#fields.length === 0;
  }

  #process() {
    const { skipEmptyLines, header, dynamicTyping, transform, transformHeader } = this.#config;
    const results = this.#results;
    if (results && this.#hasNoDelimiter) {
      const message = `Unable to auto-detect delimiting character; defaulted to '${Papa.DefaultDelimiter}'`;
      this.#addError('Delimiter', 'UndetectableDelimiter', message);
      this.#hasNoDelimiter = false;
    }
    if (skipEmptyLines) results.data = results.data.filter((row) => !isEmptyRow(row, skipEmptyLines));
    if (this.#needsHeader() && results.data.length > 0) {
      const rename = typeof transformHeader === 'function' ? (name) => transformHeader(name) : (name) => name;
      this.#fields.push(...results.data[0].map(rename));
      results.data.splice(0, 1);
    }
    if (!header && !dynamicTyping && !transform) return;
    results.data = results.data.map((row, at) => this.#processRow(row, at));
    if (header && results.meta) results.meta.fields = this.#fields;
    this.#rows += results.data.length;
  }

  #processRow(values, at) {
    const { header, transform } = this.#config;
    const row = header ? {} : [];
    const wanted = this.#fields.length;
    values.forEach((text, column) => {
      let field = column;
      if (header) field = column >= wanted ? '__parsed_extra' : this.#fields[column];
      const value = this.#typed(field, transform ? transform(text, field) : text);
      if (field === '__parsed_extra') (row[field] = row[field] || []).push(value);
      else row[field] = value;
    });
    const found = values.length;
    if (header && found !== wanted) {
      const many = found > wanted ? 'many' : 'few';
      const message = `Too ${many} fields: expected ${wanted} fields but parsed ${found}`;
      this.#addError('FieldMismatch', found > wanted ? 'TooManyFields' : 'TooFewFields', message, this.#rows + at);
    }
    return row;
  }

  #typed(field, value) {
    const { dynamicTyping: typing, dynamicTypingFunction: decide } = this.#config;
    if (decide && typing[field] === undefined) typing[field] = decide(field);
    if ((typing[field] || typing) !== true) return value;
    if (value === 'true' || value === 'TRUE') return true;
    if (value === 'false' || value === 'FALSE') return false;
    if (FLOAT.test(value) && Math.abs(parseFloat(value)) < LARGEST) return parseFloat(value);
    if (MOMENT.test(value)) return new Date(value);
    return value === '' ? null : value;
  }

  #addError(type, code, message, row) {
    this.#results.errors.push(row === undefined ? { type, code, message } : { type, code, message, row });
  }
}
