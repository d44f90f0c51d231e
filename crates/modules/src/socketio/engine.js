// Engine.IO (revision 4): a connection by long polling, by WebSocket, or by the one first and the other as soon as it works.
// Messages are strings and ArrayBuffers. Hooks: `opened(handshake)`, `message(data, start)` (a text's content begins at `start`),
// `pinged()`, `upgraded()`, `closed(reason, details)`, the last one once.
(function ({ http, openSocket, lineOver, b64encode, b64decode }) {
  const SEPARATOR = "\x1e";
  const CLOSE = "1", PING = "2", PONG = "3", MESSAGE = "4", UPGRADE = "5";

  class TransportError extends Error {
    constructor(message, description) {
      super(message);
      this.type = "TransportError";
      this.description = description;
    }
  }

  function address(scheme, engine, transport) {
    const sid = engine.sid === undefined ? {} : { sid: engine.sid };
    const query = { ...engine.options.query, EIO: "4", transport, ...sid };
    const pairs = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    return `${scheme}://${engine.host}${engine.options.path}?${pairs.join("&")}`;
  }

  /** Long polling: one request waits for packets, another one carries ours. */
  class Polling {
    constructor(engine) {
      this.name = "polling";
      this.engine = engine;
      this.isPosting = false;
      this.isPolling = false;
      this.paused = undefined;
      this.isOver = false;
      this.poll();
    }

    async ask(method, body) {
      const { engine } = this;
      const headers = body === null ? {} : { "Content-Type": "text/plain;charset=UTF-8" };
      // One name for all requests, because each session has an address of its own.
      const name = `${engine.secure ? "https" : "http"}://${engine.host}${engine.options.path}`;
      return http.asyncRequest(method, address(engine.secure ? "https" : "http", engine, "polling"), body, {
        headers: { ...headers, ...engine.options.extraHeaders },
        tags: { name, ...engine.options.tags },
        timeout: engine.options.requestTimeout ?? "120s",
      });
    }

    fail(message, answer) {
      this.isOver = true;
      this.engine.broke(this, new TransportError(message, answer.error || answer.status));
    }

    async poll() {
      this.isPolling = true;
      const answer = await this.ask("GET", null);
      this.isPolling = false;
      if (this.isOver) return;
      if (answer.status !== 200) {
        this.fail("xhr poll error", answer);
        return;
      }
      for (const packet of answer.body.split(SEPARATOR)) {
        this.engine.received(this, packet[0] === "b" ? b64decode(packet.slice(1)) : packet);
        if (this.isOver) return;
      }
      if (this.paused !== undefined) this.settle();
      else this.poll();
    }

    get isWritable() {
      return !this.isPosting && this.engine.sid !== undefined;
    }

    async write(packets) {
      this.isPosting = true;
      const texts = packets.map((packet) => (typeof packet === "string" ? packet : `b${b64encode(packet)}`));
      const answer = await this.ask("POST", texts.join(SEPARATOR));
      this.isPosting = false;
      this.posted?.();
      if (this.isOver) return;
      if (answer.status !== 200) {
        this.fail("xhr post error", answer);
        return;
      }
      if (this.paused !== undefined) this.settle();
      this.engine.flush();
    }

    /** Calls back when nothing is under way any more. */
    pause(paused) {
      this.paused = paused;
      this.settle();
    }

    settle() {
      if (this.isPolling || this.isPosting) return;
      this.isOver = true;
      this.paused();
    }

    close() {
      const isOpen = !this.isOver && this.engine.sid !== undefined;
      this.isOver = true;
      if (!isOpen) return;
      const leave = () => this.ask("POST", CLOSE);
      if (this.isPosting) this.posted = leave;
      else leave();
    }
  }

  class Socket {
    constructor(engine, opened) {
      this.name = "websocket";
      this.engine = engine;
      this.isOver = false;
      this.hasOpened = false;
      this.isWritable = false;
      this.error = undefined;
      const { extraHeaders, tags } = engine.options;
      const { message } = engine.hooks;
      const scheme = engine.secure ? "wss" : "ws";
      const params = {
        headers: extraHeaders ?? {},
        tags: { name: `${scheme}://${engine.host}${engine.options.path}`, ...tags },
      };
      const arrived = (data) => {
        if (this.isOver) return;
        if (this === engine.transport && data[0] === MESSAGE) message(data, 1);
        else engine.received(this, data);
      };
      const happened = (type, first, second) => {
        if (type === "open") {
          this.hasOpened = true;
          this.isWritable = true;
          opened?.(this);
        } else if (type === "error") {
          this.error = first;
        } else if (type === "close") {
          this.closed(first, second ?? "");
        }
      };
      this.handle = openSocket(address(scheme, engine, "websocket"), undefined, params, arrived, happened);
      this.line = lineOver(this.handle);
    }

    closed(code, reason) {
      if (this.isOver) return;
      this.isOver = true;
      this.isWritable = false;
      if (this.hasOpened) this.engine.left(this, code, reason);
      else this.engine.broke(this, new TransportError("websocket error", this.error));
    }

    write(packets) {
      for (const packet of packets) this.handle.send(packet);
    }

    close() {
      this.isOver = true;
      this.isWritable = false;
      this.line.close();
      this.handle.close(1000, "");
    }
  }

  return class Engine {
    static MESSAGE = MESSAGE;

    constructor({ secure, host }, options, hooks) {
      this.secure = secure;
      this.host = host;
      this.options = options;
      this.hooks = hooks;
      this.sid = undefined;
      this.state = "opening";
      this.waiting = [];
      this.isUpgrading = false;
      this.probe = undefined;
      this.heartbeat = undefined;
      const [first] = options.transports;
      this.transport = first === "polling" ? new Polling(this) : new Socket(this);
    }

    /** Sends a message, or keeps it until it can be sent: `Engine.MESSAGE` and a text, or an ArrayBuffer. */
    send(packet) {
      const { transport } = this;
      if (transport.isWritable && transport.handle !== undefined && this.waiting.length === 0 && !this.isUpgrading) {
        transport.handle.send(packet);
        return;
      }
      this.waiting.push(packet);
      this.flush();
    }

    flush() {
      if (this.state !== "open" || this.isUpgrading || this.waiting.length === 0 || !this.transport.isWritable) return;
      const packets = this.waiting;
      this.waiting = [];
      this.transport.write(packets);
    }

    get isWritable() {
      return this.state === "open" && !this.isUpgrading && this.transport.isWritable;
    }

    close() {
      if (this.state === "closed") return;
      this.flush();
      this.end("forced close");
    }

    received(transport, packet) {
      if (transport !== this.transport) {
        if (packet === `${PONG}probe`) this.upgrade(transport);
        return;
      }
      if (typeof packet !== "string") {
        this.hooks.message(packet, 0);
        return;
      }
      switch (packet[0]) {
        case "0":
          this.open(JSON.parse(packet.slice(1)));
          break;
        case CLOSE:
          this.end("transport close");
          break;
        case PING:
          this.expectPing();
          this.waiting.push(PONG + packet.slice(1));
          this.flush();
          this.hooks.pinged();
          break;
        case MESSAGE:
          this.hooks.message(packet, 1);
          break;
      }
    }

    open(handshake) {
      this.sid = handshake.sid;
      this.patience = handshake.pingInterval + handshake.pingTimeout;
      this.state = "open";
      this.expectPing();
      this.hooks.opened(handshake);
      const { transports, upgrade } = this.options;
      const wants = upgrade !== false && this.transport.name === "polling" && transports.includes("websocket");
      if (wants && this.state === "open" && handshake.upgrades.includes("websocket")) {
        this.probe = new Socket(this, (socket) => socket.write([`${PING}probe`]));
      }
      this.flush();
    }

    expectPing() {
      clearTimeout(this.heartbeat);
      this.heartbeat = setTimeout(() => this.end("ping timeout"), this.patience);
    }

    upgrade(socket) {
      if (this.state !== "open" || socket !== this.probe) return;
      this.isUpgrading = true;
      this.transport.pause(() => {
        if (this.state !== "open") return;
        socket.write([UPGRADE]);
        this.transport = socket;
        this.probe = undefined;
        this.isUpgrading = false;
        this.flush();
        this.hooks.upgraded();
      });
    }

    /** A transport failed. */
    broke(transport, error) {
      if (transport === this.probe) {
        // Polling goes on.
        this.probe = undefined;
        return;
      }
      this.end("transport error", error);
    }

    /** A transport was closed by the other side. */
    left(transport, code, reason) {
      if (transport === this.probe) {
        this.probe = undefined;
        return;
      }
      this.end("transport close", { description: "websocket connection closed", code, reason });
    }

    end(reason, details) {
      if (this.state === "closed") return;
      this.state = "closed";
      clearTimeout(this.heartbeat);
      this.probe?.close();
      this.transport.close();
      this.hooks.closed(reason, details);
    }
  };
})
