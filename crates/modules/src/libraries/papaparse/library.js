// The whole: texts in pieces, and the names of Papa Parse.

/** Hands a text to the parser, whole or with `chunkSize` in pieces, and joins what comes of it. */
class StringStreamer {
  constructor(given) {
    const config = copyOf(given || {});
    config.chunkSize = parseInt(config.chunkSize);
    if (!config.step && !config.chunk) config.chunkSize = null;
    this._handle = new ParserHandle(config);
    this._handle.streamer = this;
    Object.assign(this, { _config: config, _finished: false, _completed: false, _halted: false, _input: null, _baseIndex: 0 });
    Object.assign(this, { _partialLine: '', _rowCount: 0, _start: 0, isFirstChunk: true });
    this._completeResults = { data: [], errors: [], meta: {} };
  }

  stream(text) {
    this._rest = text;
    return this._nextChunk();
  }

  _nextChunk() {
    if (this._finished) return undefined;
    const { chunkSize } = this._config;
    const chunk = chunkSize ? this._rest.substring(0, chunkSize) : this._rest;
    this._rest = chunkSize ? this._rest.substring(chunkSize) : '';
    this._finished = !this._rest;
    return this.parseChunk(chunk);
  }

  /** `isRest`: what was left when the script paused. */
  parseChunk(given, isRest) {
    const { _config: config, _handle: handle } = this;
    let chunk = given;
    if (this.isFirstChunk && typeof config.beforeFirstChunk === 'function') chunk = config.beforeFirstChunk(chunk) ?? chunk;
    this.isFirstChunk = false;
    this._halted = false;
    const text = this._partialLine + chunk;
    this._partialLine = '';
    let results = handle.parse(text, this._baseIndex, !this._finished);
    if (this._halts()) return undefined;
    if (!this._finished) {
      const { cursor } = results.meta;
      this._partialLine = text.substring(cursor - this._baseIndex);
      this._baseIndex = cursor;
    }
    if (results.data) this._rowCount += results.data.length;
    const isEnd = this._finished || (config.preview && this._rowCount >= config.preview);
    if (typeof config.chunk === 'function' && !isRest) {
      config.chunk(results, handle);
      if (this._halts()) return undefined;
      results = undefined;
      this._completeResults = undefined;
    }
    if (!config.step && !config.chunk) {
      const all = this._completeResults;
      all.data = all.data.concat(results.data);
      all.errors = all.errors.concat(results.errors);
      all.meta = results.meta;
    }
    const isWhole = !results || !results.meta.aborted;
    if (!this._completed && isEnd && typeof config.complete === 'function' && isWhole) {
      config.complete(this._completeResults, this._input);
      this._completed = true;
    }
    if (!isEnd && (!results || !results.meta.paused)) this._nextChunk();
    return results;
  }

  _halts() {
    this._halted = this._handle.paused() || this._handle.aborted();
    return this._halted;
  }
}

/** Rows of a text. The result is that of the first piece when `step` or `chunk` take the text in pieces. */
function parse(input, given) {
  const config = given || {};
  const typing = config.dynamicTyping || false;
  if (typeof typing === 'function') config.dynamicTypingFunction = typing;
  config.dynamicTyping = typeof typing === 'function' ? {} : typing;
  config.transform = typeof config.transform === 'function' ? config.transform : false;
  if (typeof input === 'string' && !config.download) return new StringStreamer(config).stream(input);
  if (input !== Papa.NODE_STREAM_INPUT) {
    // Values that cannot be asked are errors of the engine.
    void input.readable;
  }
  throw new TypeError(`parse reads texts: found ${config.download ? 'the option download' : typeof input}, expected a text`);
}

const notOffered = (name) => class {
  constructor() {
    throw new TypeError(`${name} is not offered: scripts have no files and streams that Papa Parse knows; pass a text to parse`);
  }
};

const Papa = {
  parse,
  unparse,
  RECORD_SEP: '\x1e',
  UNIT_SEP: '\x1f',
  BYTE_ORDER_MARK: '\ufeff',
  BAD_DELIMITERS,
  WORKERS_SUPPORTED: false,
  NODE_STREAM_INPUT: 1,
  LocalChunkSize: 10 * 1024 * 1024,
  RemoteChunkSize: 5 * 1024 * 1024,
  DefaultDelimiter: ',',
  Parser,
  ParserHandle,
  NetworkStreamer: notOffered('NetworkStreamer'),
  FileStreamer: notOffered('FileStreamer'),
  StringStreamer,
  ReadableStreamStreamer: notOffered('ReadableStreamStreamer'),
};

module.exports = Papa;
