// papaparse: rows of a CSV text. What other readers refuse (text behind a quote, a quote that never ends) has a result and an
// error, as in Papa Parse 5.1.1.

const BAD_DELIMITERS = ['\r', '\n', '"', '\ufeff'];

const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Reads rows one after the other. With a `step` function each row goes there instead of into the result. */
class Parser {
  constructor(config) {
    const { delimiter, newline, comments, step, preview, fastMode, quoteChar = '"', escapeChar = quoteChar } = config || {};
    const isUsable = (text) => typeof text === 'string' && !BAD_DELIMITERS.includes(text);
    this.delimiter = isUsable(delimiter) ? delimiter : ',';
    if (comments === this.delimiter) throw new Error('Comment character same as delimiter');
    this.comments = comments === true ? '#' : isUsable(comments) && comments;
    this.newline = ['\n', '\r', '\r\n'].includes(newline) ? newline : '\n';
    Object.assign(this, { step, preview, fastMode, quoteChar, escapeChar, cursor: 0, isAborted: false });
  }

  /** `isPartial`: more text follows, so that the last row may be half of one. */
  parse(input, baseIndex, isPartial) {
    if (typeof input !== 'string') throw new Error('Input must be a string');
    Object.assign(this, { input, baseIndex: baseIndex || 0, isPartial, cursor: 0, lastCursor: 0, data: [], errors: [], row: [] });
    if (input === '') return this.result();
    const isFast = this.fastMode || (this.fastMode !== false && input.indexOf(this.quoteChar) === -1);
    return isFast ? this.parseFast() : this.parseQuoted();
  }

  abort() {
    this.isAborted = true;
  }

  getCharIndex() {
    return this.cursor;
  }

  result(isCut = false) {
    const { data, errors, delimiter, newline: linebreak, isAborted: aborted } = this;
    return { data, errors, meta: { delimiter, linebreak, aborted, truncated: isCut, cursor: this.lastCursor + this.baseIndex } };
  }

  push(row) {
    this.data.push(row);
    this.lastCursor = this.cursor;
  }

  /** The script's `step` for the row that was pushed. */
  handOver() {
    if (typeof this.step !== 'function') return;
    this.step(this.result());
    this.data = [];
    this.errors = [];
  }

  /** No quotes: rows are what is between line breaks. */
  parseFast() {
    const { input, newline, comments, delimiter, preview } = this;
    const rows = input.split(newline);
    for (const [at, row] of rows.entries()) {
      const isLast = at === rows.length - 1;
      this.cursor += row.length + (isLast ? 0 : newline.length);
      if (isLast && this.isPartial) return this.result();
      if (comments && row.startsWith(comments)) continue;
      this.push(row.split(delimiter));
      this.handOver();
      if (this.isAborted) return this.result();
      // Comments count.
      if (preview && at >= preview) {
        this.data = this.data.slice(0, preview);
        return this.result(true);
      }
    }
    return this.result();
  }

  parseQuoted() {
    const { input, quoteChar, escapeChar, comments, delimiter, newline } = this;
    this.escaped = new RegExp(literal(escapeChar) + literal(quoteChar), 'g');
    for (;;) {
      const { cursor } = this;
      let end;
      if (input[cursor] === quoteChar) {
        end = this.quotedField();
      } else if (comments && this.row.length === 0 && input.startsWith(comments, cursor)) {
        const line = input.indexOf(newline, cursor);
        if (line === -1) return this.result();
        this.cursor = line + newline.length;
        continue;
      } else {
        end = this.plainField(input.indexOf(delimiter, cursor), input.indexOf(newline, cursor));
      }
      if (end.isLast) return this.finish(end.value);
      this.row.push(end.value);
      this.cursor = end.next;
      if (!end.isRow) continue;
      this.push(this.row);
      this.row = [];
      this.handOver();
      if (this.isAborted) return this.result();
      if (this.preview && this.data.length >= this.preview) return this.result(true);
    }
  }

  plainField(delimiterAt, newlineAt) {
    const { input, cursor, delimiter, newline } = this;
    if (delimiterAt !== -1 && (delimiterAt < newlineAt || newlineAt === -1)) {
      return { value: input.substring(cursor, delimiterAt), next: delimiterAt + delimiter.length };
    }
    if (newlineAt === -1) return { isLast: true, value: input.substring(cursor) };
    return { value: input.substring(cursor, newlineAt), next: newlineAt + newline.length, isRow: true };
  }

  /** The field whose opening quote is at the cursor. */
  quotedField() {
    const { input, quoteChar, escapeChar, delimiter, newline } = this;
    this.cursor += 1;
    const upTo = (end) => input.substring(this.cursor, end).replace(this.escaped, quoteChar);
    const fault = (code, message) => {
      this.errors.push({ type: 'Quotes', code, message, row: this.data.length, index: this.cursor });
    };
    for (let quote = this.cursor - 1; ; ) {
      quote = input.indexOf(quoteChar, quote + 1);
      if (quote === -1) {
        if (!this.isPartial) fault('MissingQuotes', 'Quoted field unterminated');
        return { isLast: true, value: input.substring(this.cursor) };
      }
      if (quote === input.length - 1) return { isLast: true, value: upTo(quote) };
      if (quoteChar === escapeChar && input[quote + 1] === escapeChar) {
        quote += 1;
        continue;
      }
      if (quoteChar !== escapeChar && quote !== 0 && input[quote - 1] === escapeChar) continue;
      const behind = quote + 1;
      const [delimiterAt, newlineAt] = [delimiter, newline].map((text) => input.indexOf(text, behind));
      const spaces = blank(input, behind, newlineAt === -1 ? delimiterAt : Math.min(delimiterAt, newlineAt));
      if (input[behind + spaces] === delimiter) return { value: upTo(quote), next: behind + spaces + delimiter.length };
      const line = behind + blank(input, behind, newlineAt);
      if (input.startsWith(newline, line)) return { value: upTo(quote), next: line + newline.length, isRow: true };
      fault('InvalidQuotes', 'Trailing quote on quoted field is malformed');
      quote += 1;
    }
  }

  finish(value) {
    if (this.isPartial) return this.result();
    this.row.push(value);
    this.cursor = this.input.length;
    this.push(this.row);
    this.handOver();
    return this.result();
  }
}

/** How much white space there is from one place up to another, when there is nothing else. */
function blank(input, from, to) {
  if (to === -1) return 0;
  const between = input.substring(from, to);
  return between.trim() === '' ? between.length : 0;
}
