// `io` and its sockets: namespaces over one connection, events, acknowledgements, reconnecting. Called once a virtual user with the
// parts it is made of: gives the module's exports.
(function ({ packets, Engine, Trend, countSent, countReceived, acknowledged, emit, reserved, now, fail }) {
  const { CONNECT, DISCONNECT, EVENT, ACK, CONNECT_ERROR, encode, Decoder } = packets;
  const connecting = new Trend("socketio_connecting", true);
  /** How the next event is sent, when nothing was said about it. */
  const NONE = {};
  const DEFAULTS = {
    path: "/socket.io/",
    query: {},
    transports: ["polling", "websocket"],
    reconnection: true,
    reconnectionAttempts: Infinity,
    reconnectionDelay: 1000,
    reconnectionDelayMax: 5000,
    randomizationFactor: 0.5,
    timeout: 20000,
    autoConnect: true,
  };

  class Emitter {
    handlers = { __proto__: null };

    on(event, listener) {
      if (typeof listener !== "function") fail(`on: the listener of "${String(event)}" is not a function`);
      (this.handlers[event] ??= []).push(listener);
      return this;
    }

    addEventListener(event, listener) {
      return this.on(event, listener);
    }

    once(event, listener) {
      const once = (...args) => {
        this.off(event, once);
        listener.apply(this, args);
      };
      once.listener = listener;
      return this.on(event, once);
    }

    off(event, listener) {
      // The object itself stays: `way.rs` looks into it.
      if (event === undefined) for (const name of Object.keys(this.handlers)) delete this.handlers[name];
      else if (listener === undefined) delete this.handlers[event];
      else {
        const rest = this.listeners(event).filter((known) => known !== listener && known.listener !== listener);
        this.handlers[event] = rest;
      }
      return this;
    }

    removeListener(event, listener) {
      return this.off(event, listener);
    }

    removeAllListeners(event) {
      return this.off(event);
    }

    listeners(event) {
      return this.handlers[event] ?? [];
    }

    hasListeners(event) {
      return this.listeners(event).length > 0;
    }

    happen(event, ...args) {
      this.each(this.handlers[event], args);
    }

    /** Calls listeners, as many as there are now. */
    each(listeners, args) {
      if (listeners === undefined || listeners.length === 0) return;
      for (const listener of listeners.slice()) listener.apply(this, args);
    }
  }

  class Manager extends Emitter {
    constructor(host, options) {
      super();
      this.host = host;
      this.opts = options;
      this.sockets = {};
      this.engine = undefined;
      this.state = "closed";
      this.attempts = 0;
      this.isReconnecting = false;
      this.mayReconnect = options.reconnection;
      this.timer = undefined;
    }

    socket(namespace, auth) {
      const socket = (this.sockets[namespace] ??= new Socket(this, namespace, auth));
      if (this.opts.autoConnect) socket.connect();
      return socket;
    }

    open() {
      if (this.state !== "closed") return;
      this.state = "opening";
      this.mayReconnect = this.opts.reconnection;
      this.decoder = new Decoder((type, namespace, id, data) => this.sockets[namespace]?.received(type, id, data));
      this.sendPacket = (packet) => this.engine.send(packet);
      const limit = this.opts.timeout === false ? undefined : setTimeout(() => engine.end("timeout"), this.opts.timeout);
      const engine = new Engine(this.host, this.opts, {
        opened: () => {
          clearTimeout(limit);
          this.opened();
        },
        message: (data, start) => {
          try {
            this.decoder.add(data, start);
          } catch (error) {
            if (error.isOfScript) throw error.cause;
            this.engine.end("parse error", error);
          }
          this.settle();
        },
        upgraded: () => this.settle(),
        pinged: () => this.happen("ping"),
        closed: (reason, details) => {
          clearTimeout(limit);
          this.closed(reason, details);
        },
      });
      this.engine = engine;
    }

    opened() {
      this.state = "open";
      const attempts = this.attempts;
      this.attempts = 0;
      for (const socket of Object.values(this.sockets)) if (socket.active) socket.introduce();
      this.happen("open");
      if (this.isReconnecting) {
        this.isReconnecting = false;
        this.happen("reconnect", attempts);
      }
    }

    closed(reason, details) {
      const wasOpen = this.state === "open";
      this.state = "closed";
      this.engine = undefined;
      const sockets = Object.values(this.sockets).filter((socket) => socket.active);
      if (wasOpen) {
        for (const socket of sockets) socket.left(reason, details);
        this.happen("close", reason, details);
      } else {
        const error = details instanceof Error ? details : new Error(reason);
        for (const socket of sockets) socket.refused(error);
        this.happen("error", error);
        if (this.isReconnecting) this.happen("reconnect_error", error);
      }
      this.reconnect();
    }

    /** Opens the short ways of the namespaces as long as there is nothing to do but to call a listener, or closes them. */
    settle() {
      const line = this.engine?.transport.line;
      if (line === undefined) return;
      const isFree = this.engine.isWritable && this.decoder.packet === undefined;
      for (const socket of Object.values(this.sockets)) socket._settle(isFree ? line : undefined);
    }

    reconnect() {
      const isWanted = this.mayReconnect && Object.values(this.sockets).some((socket) => socket.active);
      if (!isWanted || this.state !== "closed" || this.timer !== undefined) return;
      if (this.attempts >= this.opts.reconnectionAttempts) {
        this.isReconnecting = false;
        this.attempts = 0;
        this.happen("reconnect_failed");
        return;
      }
      this.isReconnecting = true;
      const { reconnectionDelay, reconnectionDelayMax, randomizationFactor } = this.opts;
      const spread = 1 + randomizationFactor * (2 * Math.random() - 1);
      const delay = Math.min(reconnectionDelay * 2 ** this.attempts * spread, reconnectionDelayMax);
      this.attempts++;
      this.timer = setTimeout(() => {
        this.timer = undefined;
        this.happen("reconnect_attempt", this.attempts);
        this.open();
      }, Math.max(delay, 1));
    }

    send(type, namespace, id, data) {
      encode(Engine.MESSAGE, type, namespace, id ?? "", data, this.sendPacket);
    }

    /** A socket does not need the connection any more. */
    leave() {
      if (!Object.values(this.sockets).some((socket) => socket.active)) this.close();
    }

    close() {
      this.mayReconnect = false;
      this.isReconnecting = false;
      this.attempts = 0;
      clearTimeout(this.timer);
      this.timer = undefined;
      this.engine?.close();
    }

    reconnection(value) {
      return this.option("reconnection", value);
    }

    option(name, value) {
      if (value === undefined) return this.opts[name];
      this.opts[name] = value;
      return this;
    }
  }
  for (const name of ["reconnectionAttempts", "reconnectionDelay", "reconnectionDelayMax", "randomizationFactor", "timeout"]) {
    Manager.prototype[name] = function (value) {
      return this.option(name, value);
    };
  }

  class Socket extends Emitter {
    _namespace;
    _flags = NONE;
    _awaited = {};
    // Odd: those of the short way are even.
    _next = 1;
    _toSend = [];
    _toGive = [];
    _any = [];
    _anyOutgoing = [];
    _session = {};
    _asked = 0;
    _way = undefined;

    constructor(manager, namespace, auth) {
      super();
      this.io = manager;
      this._namespace = namespace;
      this.auth = auth;
      this.id = undefined;
      this.connected = false;
      this.recovered = false;
      this.active = false;
    }

    get disconnected() {
      return !this.connected;
    }

    connect() {
      if (this.active) return this;
      this.active = true;
      this._asked = now();
      if (this.io.state === "open") this.introduce();
      else if (!this.io.isReconnecting) this.io.open();
      return this;
    }

    open() {
      return this.connect();
    }

    /** Asks for the namespace: the connection stands. */
    introduce() {
      const ask = (data) => {
        const known = this._session.id === undefined ? {} : { pid: this._session.id, offset: this._session.offset };
        this._send(CONNECT, data === undefined && known.pid === undefined ? undefined : { ...known, ...data });
      };
      if (typeof this.auth === "function") this.auth(ask);
      else ask(this.auth);
    }

    /** Nothing is to be done about events but to call their listeners, and to send them. */
    _isPlain() {
      const { _any, _anyOutgoing, _flags, _session } = this;
      const isWatched = _any.length > 0 || _anyOutgoing.length > 0;
      return this.connected && !isWatched && _flags === NONE && _session.id === undefined;
    }

    /** Opens its short way over `line`, or closes it. */
    _settle(line) {
      if (line !== undefined && this._isPlain()) {
        this._way ??= line.way(this._namespace, this, this.handlers);
        this._way.open(this.io.opts.ackTimeout === undefined);
      } else {
        this._way?.close();
      }
    }

    /** What came the short way, and is more than the call of a listener. */
    _take(type, id, data) {
      try {
        this.received(type, id, data);
      } catch (error) {
        throw error?.isOfScript ? error.cause : error;
      }
      this.io.settle();
    }

    /** What came the short way and is no packet. */
    _broken(why) {
      this.io.engine.end("parse error", new Error(why));
    }

    _send(type, data, id) {
      this.io.send(type, this._namespace, id, data);
    }

    received(type, id, data) {
      if (type === EVENT) {
        this._event(data, id);
        return;
      }
      switch (type) {
        case CONNECT:
          if (data?.sid === undefined) {
            this.happen("connect_error", new Error("the server speaks an older Socket.IO: it gave no id (expected revision 5)"));
            return;
          }
          this._welcome(data);
          break;
        case CONNECT_ERROR: {
          this._leave();
          const error = new Error(data.message ?? data);
          error.data = data.data;
          this._tell("connect_error", error);
          break;
        }
        case ACK: {
          const awaited = this._awaited[id];
          delete this._awaited[id];
          if (awaited !== undefined) this._call([awaited.answered], data);
          else if (this._way !== undefined) this._call([(...answer) => this._way.answer(id, answer)], data);
          break;
        }
        case DISCONNECT:
          this._leave();
          this.left("io server disconnect");
          break;
      }
    }

    _welcome({ sid, pid }) {
      this.recovered = pid !== undefined && this._session.id === pid;
      this._session.id = pid;
      this.id = sid;
      this.connected = true;
      connecting.add(now() - this._asked);
      const given = this._toGive;
      this._toGive = [];
      for (const { data, id } of given) this._event(data, id);
      const sent = this._toSend;
      this._toSend = [];
      for (const { data, id } of sent) this._out(data, id);
      this.io.settle();
      this._tell("connect");
    }

    _event(data, id) {
      if (!this.connected) {
        this._toGive.push({ data, id });
        return;
      }
      countReceived();
      if (this._session.id !== undefined && typeof data[data.length - 1] === "string") {
        this._session.offset = data[data.length - 1];
      }
      if (id !== undefined) {
        let isAnswered = false;
        data.push((...answer) => {
          if (isAnswered || !this.connected) return;
          isAnswered = true;
          this._send(ACK, answer, id);
        });
      }
      this._call(this._any, data);
      const name = data.shift();
      this._call(this.handlers[name], data);
    }

    /** Calls listeners of the script; what they throw is not taken for a packet that is wrong. */
    _call(listeners, args) {
      if (listeners === undefined || listeners.length === 0) return;
      try {
        this.each(listeners, args);
      } catch (cause) {
        throw { isOfScript: true, cause };
      }
    }

    _tell(event, ...args) {
      this._call(this.handlers[event], args);
    }

    /** What `emit` does when the short way is closed. */
    _emit(...data) {
      if (reserved.includes(data[0])) fail(`"${data[0]}" is a reserved event name`);
      const flags = this._flags;
      if (flags !== NONE) this._setFlags(NONE);
      let id;
      const last = data.length - 1;
      if (last > 0 && typeof data[last] === "function") id = this._await(data.pop(), flags.timeout ?? this.io.opts.ackTimeout);
      if (this.connected) {
        if (flags.volatile && !this.io.engine.isWritable) return this;
        this._out(data, id);
      } else if (!flags.volatile) {
        this._toSend.push({ data, id });
      }
      return this;
    }

    _out(data, id) {
      this.each(this._anyOutgoing, data);
      countSent();
      this.io.send(EVENT, this._namespace, id, data);
    }

    _await(callback, limit) {
      const id = this._next;
      this._next += 2;
      const begun = now();
      let timer;
      const awaited = {
        withError: limit !== undefined,
        answered: (...answer) => {
          clearTimeout(timer);
          acknowledged(now() - begun);
          if (limit === undefined) callback.apply(this, answer);
          else callback.call(this, null, ...answer);
        },
        failed: (error) => {
          clearTimeout(timer);
          callback.call(this, error);
        },
      };
      if (limit !== undefined) {
        timer = setTimeout(() => {
          delete this._awaited[id];
          this._toSend = this._toSend.filter((packet) => packet.id !== id);
          awaited.failed(new Error("operation has timed out"));
        }, limit);
      }
      this._awaited[id] = awaited;
      return id;
    }

    emitWithAck(...data) {
      const hasLimit = this._flags.timeout !== undefined || this.io.opts.ackTimeout !== undefined;
      return new Promise((resolve, reject) => {
        this.emit(...data, (...answer) => {
          if (!hasLimit) resolve(answer[0]);
          else if (answer[0]) reject(answer[0]);
          else resolve(answer[1]);
        });
      });
    }

    send(...args) {
      return this.emit("message", ...args);
    }

    _setFlags(flags) {
      this._flags = flags;
      this.io.settle();
    }

    timeout(ms) {
      this._setFlags({ ...this._flags, timeout: ms });
      return this;
    }

    get volatile() {
      this._setFlags({ ...this._flags, volatile: true });
      return this;
    }

    compress() {
      return this;
    }

    onAny(listener) {
      this._any.push(listener);
      this.io.settle();
      return this;
    }

    prependAny(listener) {
      this._any.unshift(listener);
      this.io.settle();
      return this;
    }

    offAny(listener) {
      this._any = listener === undefined ? [] : this._any.filter((known) => known !== listener);
      this.io.settle();
      return this;
    }

    listenersAny() {
      return this._any;
    }

    onAnyOutgoing(listener) {
      this._anyOutgoing.push(listener);
      this.io.settle();
      return this;
    }

    offAnyOutgoing(listener) {
      this._anyOutgoing = listener === undefined ? [] : this._anyOutgoing.filter((known) => known !== listener);
      this.io.settle();
      return this;
    }

    disconnect() {
      if (this.connected) this._send(DISCONNECT);
      this._leave();
      this.left("io client disconnect");
      return this;
    }

    close() {
      return this.disconnect();
    }

    _leave() {
      if (!this.active) return;
      this.active = false;
      this.io.leave();
    }

    /** The connection could not be made. */
    refused(error) {
      if (!this.connected) this.happen("connect_error", error);
    }

    /** The connection has gone. */
    left(reason, details) {
      if (!this.connected) return;
      this.connected = false;
      this._way?.end();
      this._way = undefined;
      this.id = undefined;
      this._asked = now();
      for (const [id, awaited] of Object.entries(this._awaited)) {
        const isUnsent = this._toSend.some((packet) => String(packet.id) === id);
        if (isUnsent) continue;
        delete this._awaited[id];
        if (awaited.withError) awaited.failed(new Error("socket has been disconnected"));
      }
      this.happen("disconnect", reason, details);
    }
  }

  Object.defineProperty(Socket.prototype, "emit", { value: emit, writable: true, configurable: true });

  const managers = {};

  function parse(url) {
    const parts = /^(?:(https?|wss?):)\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url);
    if (parts === null) fail(`io: the address is ${JSON.stringify(url)}, expected one with http, https, ws or wss`);
    const [, scheme, host, path, query] = parts;
    const secure = ["https", "wss"].includes(scheme.toLowerCase());
    const pairs = (query ?? "").split("&").filter((pair) => pair !== "");
    const given = pairs.map((pair) => pair.split("=").map((part) => decodeURIComponent(part)));
    const namespace = path === "" ? "/" : path;
    return { target: { secure, host }, namespace, query: Object.fromEntries(given) };
  }

  /** A socket of the namespace that the address's path names. */
  function io(url, options = {}) {
    const { target, namespace, query } = parse(String(url));
    const all = { ...DEFAULTS, ...options, query: { ...query, ...options.query } };
    if (!all.path.endsWith("/") && options.addTrailingSlash !== false) all.path += "/";
    const unknown = all.transports.find((name) => name !== "polling" && name !== "websocket");
    if (unknown !== undefined || all.transports.length === 0) {
      fail(`io: transports has ${JSON.stringify(unknown)}, expected "polling" or "websocket"`);
    }
    const key = `${target.secure} ${target.host} ${all.path}`;
    const known = managers[key];
    const isFresh = all.forceNew || all.multiplex === false || known?.sockets[namespace] !== undefined;
    const manager = isFresh || known === undefined ? new Manager(target, all) : known;
    if (!isFresh || known?.state === "closed") managers[key] = manager;
    return manager.socket(namespace, options.auth);
  }

  return { io, connect: io, Manager, Socket };
})
