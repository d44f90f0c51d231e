// The classes of `k6/websockets`. Called once a virtual user with the native functions: gives the module's exports.
(function (native) {
  const CONNECTING = 0, OPEN = 1, CLOSING = 2, CLOSED = 3;
  const EVENTS = ["open", "message", "error", "close", "ping", "pong"];

  function bytesOf(part) {
    if (typeof part === "string") return utf8(part);
    if (part instanceof ArrayBuffer) return new Uint8Array(part.slice(0));
    if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
    if (part instanceof Blob) return contentOf(part);
    return native.fail(`failed to process [blobParts]: unsupported type: ${part === null ? "null" : typeof part}`);
  }

  function utf8(text) {
    const encoded = unescape(encodeURIComponent(text.toWellFormed()));
    const bytes = new Uint8Array(encoded.length);
    for (let i = 0; i < encoded.length; i++) bytes[i] = encoded.charCodeAt(i);
    return bytes;
  }

  function textOf(bytes) {
    return new TextDecoder().decode(bytes);
  }

  let contentOf;

  class Blob {
    #bytes;
    #type;

    static {
      contentOf = (blob) => blob.#bytes;
    }

    constructor(parts, options) {
      let pieces = [];
      if (parts !== undefined && parts !== null) {
        if (!Array.isArray(parts)) native.fail(`failed to process [blobParts]: could not convert ${parts} to an array`);
        pieces = parts.map(bytesOf);
      }
      if (pieces.length === 1) {
        this.#bytes = pieces[0];
      } else {
        this.#bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
        let at = 0;
        for (const piece of pieces) {
          this.#bytes.set(piece, at);
          at += piece.length;
        }
      }
      const type = options === undefined || options === null ? undefined : options.type;
      this.#type = type === undefined || type === null ? "" : String(type);
    }

    get size() {
      return this.#bytes.length;
    }

    get type() {
      return this.#type;
    }

    async arrayBuffer() {
      return this.#bytes.slice().buffer;
    }

    async bytes() {
      return this.#bytes.slice();
    }

    async text() {
      return textOf(this.#bytes);
    }

    slice(start, end, type) {
      return new Blob([this.#bytes.slice(start, end)], { type: type ?? "" });
    }

    stream() {
      const { ReadableStream } = native.streams();
      const bytes = this.#bytes.slice();
      return new ReadableStream({
        start(controller) {
          if (bytes.length > 0) controller.enqueue(bytes);
          controller.close();
        },
      });
    }

    toString() {
      return "[object Blob]";
    }

    get [Symbol.toStringTag]() {
      return "Blob";
    }
  }

  class WebSocket {
    #handle;
    #url;
    #state = CONNECTING;
    #protocol = "";
    #extensions = [];
    #binaryType = "blob";
    #on = {};
    #listeners = {};

    constructor(url, protocols, params) {
      this.#handle = native.open(url, protocols, params, (type, first, second) => this.#happened(type, first, second));
      this.#url = String(url);
    }

    get url() {
      return this.#url;
    }

    get readyState() {
      return this.#state;
    }

    get bufferedAmount() {
      return this.#handle.buffered();
    }

    get extensions() {
      return this.#extensions;
    }

    get protocol() {
      return this.#protocol;
    }

    get binaryType() {
      return this.#binaryType;
    }

    set binaryType(type) {
      if (type !== "blob" && type !== "arraybuffer") {
        native.fail(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
      }
      this.#binaryType = type;
    }

    addEventListener(type, handler) {
      if (handler === undefined || handler === null) {
        native.fail(`handler for event type "${type ?? ""}" isn't a callable function`);
      }
      if (typeof handler !== "function") throw new TypeError(`the handler for event type "${type}" is not a function`);
      if (!EVENTS.includes(type)) {
        native.warn(`can't add event handler: unknown event type: ${type}`);
        return;
      }
      (this.#listeners[type] ??= []).push(handler);
    }

    send(data) {
      if (this.#state !== OPEN) native.fail("InvalidStateError");
      if (typeof data === "string") this.#handle.text(data);
      else if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) this.#handle.bytes(data);
      else if (data instanceof Blob) this.#handle.bytes(contentOf(data));
      else native.fail(`unsupported send type ${data === null ? "null" : typeof data}`);
    }

    ping() {
      if (this.#state !== OPEN) native.fail("InvalidStateError");
      this.#handle.ping();
    }

    close(code, reason) {
      if (this.#state === CLOSING || this.#state === CLOSED) return;
      // What is no number counts as no code, as in k6.
      const number = Number(code) || 1000;
      if (number !== 1000 && !(number >= 3000 && number <= 4999)) {
        native.fail(`InvalidAccessError: the close code is ${number}, expected 1000 or 3000 to 4999`);
      }
      const text = reason === undefined || reason === null ? "" : String(reason);
      const length = utf8(text).length;
      if (length > 123) native.fail(`SyntaxError: the close reason has ${length} bytes, expected 123 at most`);
      this.#state = CLOSING;
      this.#handle.close(number, text);
    }

    #happened(type, first, second) {
      const event = { type, target: this, timestamp: Date.now() };
      if (type === "message") {
        event.data = typeof first === "string" || this.#binaryType === "arraybuffer" ? first : new Blob([first]);
        event.origin = this.#url;
      } else if (type === "open") {
        this.#state = OPEN;
        this.#protocol = first;
        this.#extensions = second;
      } else if (type === "error") {
        this.#state = CLOSED;
        event.error = first;
      } else if (type === "close") {
        this.#state = CLOSED;
        event.code = first;
        event.reason = second ?? "";
      }
      if (type === "error" || type === "close") {
        this.#dispatch(event);
        return;
      }
      try {
        this.#dispatch(event);
      } catch (error) {
        // As in k6: the socket hears of it, and the iteration ends with it.
        this.#happened("error", String(error));
        this.#happened("close");
        throw error;
      }
    }

    #dispatch(event) {
      const own = this.#on[event.type];
      if (own !== undefined) own(event);
      const listeners = this.#listeners[event.type];
      if (listeners === undefined) return;
      for (const listener of listeners) {
        // Promise jobs of one handler come before the next one is called.
        native.jobs();
        listener(event);
      }
    }

    static {
      for (const type of EVENTS) {
        Object.defineProperty(this.prototype, `on${type}`, {
          get() {
            return this.#on[type];
          },
          set(handler) {
            if (handler === undefined || handler === null) delete this.#on[type];
            else if (typeof handler !== "function") native.fail(`a value for 'on${type}' should be callable`);
            else this.#on[type] = handler;
          },
          enumerable: true,
          configurable: true,
        });
      }
    }
  }

  return { WebSocket, Blob };
})
