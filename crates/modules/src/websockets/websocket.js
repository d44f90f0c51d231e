// The classes of `k6/websockets`. Called once a virtual user with the native functions: gives the module's exports.
// Typed arrays and what is made of them are there after `native.buffers()`: most users of sockets need none. Nothing of Date
// or of Map and Set is used.
(function (native) {
  const CONNECTING = 0, OPEN = 1, CLOSING = 2, CLOSED = 3;
  const EVENTS = ["open", "message", "error", "close", "ping", "pong"];

  function utf8(text) {
    native.buffers();
    const encoded = unescape(encodeURIComponent(text.toWellFormed()));
    const bytes = new Uint8Array(encoded.length);
    for (let i = 0; i < encoded.length; i++) bytes[i] = encoded.charCodeAt(i);
    return bytes;
  }

  function typeName(value) {
    return value === null ? "null" : typeof value;
  }

  function bytesOf(part) {
    if (typeof part === "string") return utf8(part);
    if (part instanceof ArrayBuffer) return new Uint8Array(part.slice(0));
    if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
    return contentOf(part) ?? native.fail(`failed to process [blobParts]: unsupported type: ${typeName(part)}`);
  }

  // Made when something needs it: most users of sockets never see one.
  let blobs;
  const contentOf = (value) => blobs?.bytesOfBlob(value);
  const blobClass = () => (blobs ??= makeBlobs()).Blob;
  const makeBlobs = () => native.blobMaker()({
    readParts(parts) {
      native.buffers();
      if (parts === undefined || parts === null) return [];
      if (!Array.isArray(parts)) native.fail(`failed to process [blobParts]: could not convert ${parts} to an array`);
      return parts.map(bytesOf);
    },
    readType(options) {
      return String(options?.type ?? "");
    },
    decode: (bytes) => new TextDecoder().decode(bytes),
    streamClass: () => native.streams().ReadableStream,
    isShown: true,
  });

  // With k6's feature async-metric-context a listener runs with the tags and metadata of its registration. The context is kept
  // until the iteration ends.
  function inItsContext(handler) {
    if (typeof handler !== "function") return handler;
    const context = native.keepContext();
    if (context === 0) return handler;
    return (event) => {
      const outer = native.enterContext(context);
      try {
        handler(event);
      } finally {
        native.leaveContext(outer);
      }
    };
  }

  // The state of a socket is a plain object: private names are looked up anew at each use.
  let stateOf;

  // `Error: text at file:line:column`, or with the function's name `… at name (file:line:column)`.
  function withPlace(error) {
    const place = String(error?.stack).split("\n").find((line) => line.startsWith("\tat "));
    return place === undefined ? String(error) : `${error} ${place.trim().replace(/^at <anonymous> \((.*)\)$/, "at $1")}`;
  }

  function ended(s, error) {
    // As in k6: the socket hears of it, and the iteration ends with it.
    happened(s, "error", withPlace(error));
    happened(s, "close");
    throw error;
  }

  // What a handler adds or changes is for the next event, as in k6.
  function dispatch(own, listeners, event) {
    const count = listeners === undefined ? 0 : listeners.length;
    if (own !== undefined) own(event);
    for (let i = 0; i < count; i++) {
      // Promise jobs of one handler come before the next one is called.
      native.jobs();
      listeners[i](event);
    }
  }

  function binary(s, data) {
    return s.binaryType === "arraybuffer" ? data : new (blobClass())([data]);
  }

  function happened(s, type, first, second) {
    const event = { type, target: s.socket, timestamp: native.now() };
    if (type === "error" || type === "close") {
      s.state = CLOSED;
      if (type === "error") {
        event.error = first;
      } else {
        event.code = first;
        event.reason = second ?? "";
      }
      dispatch(s[`on${type}`], s.listeners[type], event);
      return;
    }
    if (type === "open") {
      s.state = OPEN;
      s.protocol = first;
      s.extensions = second;
    }
    try {
      dispatch(s[`on${type}`], s.listeners[type], event);
    } catch (error) {
      ended(s, error);
    }
  }

  function addEventListener(s, type, handler) {
    if (handler === undefined || handler === null) {
      native.fail(`handler for event type "${type ?? ""}" isn't a callable function`);
    }
    if (typeof handler !== "function") throw new TypeError(`the handler for event type "${type}" is not a function`);
    if (!EVENTS.includes(type)) {
      native.warn(`can't add event handler: unknown event type: ${type}`);
      return;
    }
    (s.listeners[type] ??= []).push(inItsContext(handler));
    if (type === "message") route(s);
  }

  function route(s) {
    const only = s.listeners.message === undefined ? s.onmessage : undefined;
    s.handle.route(only, s.socket, s.url, s.binaryType === "arraybuffer");
  }

  function ping(s) {
    if (s.state !== OPEN) native.fail("InvalidStateError");
    s.handle.ping();
  }

  function close(s, code, reason) {
    if (s.state === CLOSING || s.state === CLOSED) return;
    // What is no number counts as no code, as in k6.
    const number = Number(code) || 1000;
    if (number !== 1000 && !(number >= 3000 && number <= 4999)) {
      native.fail(`InvalidAccessError: the close code is ${number}, expected 1000 or 3000 to 4999`);
    }
    const text = reason === undefined || reason === null ? "" : String(reason);
    const length = text === "" ? 0 : utf8(text).length;
    if (length > 123) native.fail(`SyntaxError: the close reason has ${length} bytes, expected 123 at most`);
    s.state = CLOSING;
    s.handle.close(number, text);
  }

  function own(object, name, value) {
    Object.defineProperty(object, name, { value, enumerable: true });
  }

  class WebSocket {
    #state;

    static {
      stateOf = (socket) => socket.#state;
    }

    constructor(url, protocols, params) {
      const s = {
        socket: this,
        handle: undefined,
        url: String(url),
        state: CONNECTING,
        protocol: "",
        extensions: [],
        binaryType: "blob",
        onmessage: undefined,
        listeners: {},
      };
      // A single handler of messages is called by native code, with an event that is made there; see `route`.
      const onMessage = (data, isText, timestamp) => {
        const event = { type: "message", target: this, timestamp, data: isText ? data : binary(s, data), origin: s.url };
        try {
          dispatch(s.onmessage, s.listeners.message, event);
        } catch (error) {
          ended(s, error);
        }
      };
      const onOther = (type, first, second) => type === "threw" ? ended(s, first) : happened(s, type, first, second);
      s.handle = native.open(url, protocols, params, onMessage, onOther);
      this.#state = s;
      // Methods that need no `this`: `setTimeout(socket.close, 100)` is found in scripts.
      own(this, "addEventListener", (type, handler) => addEventListener(s, type, handler));
      const send = s.handle.sender((data, isMessage) => {
        if (s.state !== OPEN) native.fail("InvalidStateError");
        if (isMessage) return;
        const content = contentOf(data);
        if (content !== undefined) send(content);
        else native.fail(`unsupported send type ${typeName(data)}`);
      });
      own(this, "send", send);
      own(this, "ping", () => ping(s));
      own(this, "close", (code, reason) => close(s, code, reason));
      // What the class has below is shown as the instance's own.
      native.share(WebSocket.prototype, this);
    }

    get url() {
      return this.#state.url;
    }

    get readyState() {
      return this.#state.state;
    }

    get bufferedAmount() {
      return this.#state.handle.buffered();
    }

    get extensions() {
      return this.#state.extensions;
    }

    get protocol() {
      return this.#state.protocol;
    }

    get binaryType() {
      return this.#state.binaryType;
    }

    set binaryType(type) {
      if (type !== "blob" && type !== "arraybuffer") {
        native.fail(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
      }
      this.#state.binaryType = type;
      route(this.#state);
    }

    static {
      for (const type of ["message", "error", "open", "close", "ping", "pong"]) {
        const name = `on${type}`;
        Object.defineProperty(this.prototype, name, {
          get() {
            const s = stateOf(this);
            return s.given?.[name] ?? s[name];
          },
          set(handler) {
            if (handler !== undefined && handler !== null && typeof handler !== "function") {
              native.fail(`a value for '${name}' should be callable`);
            }
            const s = stateOf(this);
            const given = handler ?? undefined;
            s[name] = inItsContext(given);
            if (s.given !== undefined || s[name] !== given) (s.given ??= {})[name] = given;
            if (type === "message") route(s);
          },
          configurable: true,
        });
      }
      for (const name in Object.getOwnPropertyDescriptors(this.prototype)) {
        if (name !== "constructor") Object.defineProperty(this.prototype, name, { enumerable: true });
      }
      for (const [name, value] of Object.entries({ CONNECTING, OPEN, CLOSING, CLOSED })) {
        Object.defineProperty(this, name, { value, enumerable: true });
        Object.defineProperty(this.prototype, name, { value, enumerable: true });
      }
    }
  }

  return {
    WebSocket,
    get Blob() {
      return blobClass();
    },
  };
})
