// A small Socket.IO server: polling, WebSocket and the upgrade; namespaces `/` and `/admin`; what test.js asks for. Enough of the
// protocols to tell whether a client keeps to them: what it does not know closes the connection.
const sessions = new Map();
let made = 0;

const PING_INTERVAL = 300;
const PING_TIMEOUT = 1500;

class Session {
  constructor() {
    this.sid = `session-${made++}`;
    this.queue = [];
    this.poll = undefined;
    this.ws = undefined;
    this.pending = undefined;
    this.rooms = new Set();
    this.names = {};
    this.timer = setInterval(() => this.send("2"), PING_INTERVAL);
    sessions.set(this.sid, this);
  }

  handshake(upgrades) {
    return `0${JSON.stringify({ sid: this.sid, upgrades, pingInterval: PING_INTERVAL, pingTimeout: PING_TIMEOUT, maxPayload: 1e6 })}`;
  }

  send(...packets) {
    if (this.ws !== undefined) {
      for (const packet of packets) this.ws.send(packet);
      return;
    }
    this.queue.push(...packets);
    this.settle();
  }

  settle() {
    if (this.poll === undefined || this.queue.length === 0) return;
    const texts = this.queue.map((packet) => (typeof packet === "string" ? packet : `b${btoa(String.fromCharCode(...new Uint8Array(packet)))}`));
    this.queue = [];
    this.poll(new Response(texts.join("\x1e")));
    this.poll = undefined;
  }

  end() {
    clearInterval(this.timer);
    sessions.delete(this.sid);
    this.send("6");
    this.ws?.close();
  }

  take(packet) {
    if (typeof packet !== "string") {
      this.pending.data.push(packet);
      if (this.pending.data.length === this.pending.count) this.answer(this.pending.text, this.pending.data);
      return;
    }
    if (packet === "3") return;
    if (packet === "1") this.end();
    else if (packet[0] === "4") this.message(packet.slice(1));
    else throw new Error(`unexpected packet ${packet}`);
  }

  message(text) {
    const [, type, count, namespace = "/", id, json] = /^(\d)(?:(\d+)-)?(\/\w+)?,?(\d*)(.*)$/s.exec(text);
    const head = namespace === "/" ? "" : `${namespace},`;
    const data = json === "" ? undefined : JSON.parse(json);
    if (type === "0") {
      if (namespace === "/admin" && data?.token !== "good") this.send(`44${head}{"message":"not authorized","data":{"why":"token"}}`);
      else if (!["/", "/admin"].includes(namespace)) this.send(`44${head}{"message":"Invalid namespace"}`);
      else {
        this.names[namespace] = { auth: data };
        this.send(`40${head}{"sid":"${namespace}${this.sid}"}`);
        if (namespace === "/admin") this.send(`42${head}["hi","/admin"]`);
      }
    } else if (type === "1") {
      delete this.names[namespace];
    } else if (type === "2") {
      this.event(head, id, data);
    } else if (type === "3") {
      this.send(`42${head}["answered",${JSON.stringify(data[0])}]`);
    } else if (type === "5") {
      this.pending = { text: { head, id, json }, count: Number(count), data: [] };
    }
  }

  /** A binary event goes back as it came. */
  answer({ head, id, json }, data) {
    this.pending = undefined;
    const back = id === "" ? `45${data.length}-${head}${json}` : `46${data.length}-${head}${id}[${JSON.parse(json).slice(1).map((part) => JSON.stringify(part)).join()}]`;
    this.send(back, ...data);
  }

  event(head, id, [name, ...args]) {
    const ack = (...values) => this.send(`43${head}${id}${JSON.stringify(values)}`);
    switch (name) {
      case "echo": id === "" ? this.send(`42${head}${JSON.stringify([name, ...args])}`) : ack(...args); break;
      case "ask": this.send(`42${head}7["question",5]`); break;
      case "join": this.rooms.add(args[0]); ack("ok"); break;
      case "say": for (const other of sessions.values()) if (other !== this && other.rooms.has(args[0])) other.send(`42["said",${JSON.stringify(args[1])}]`); break;
      case "transport": ack(this.ws === undefined ? "polling" : "websocket"); break;
      case "handshake": ack({ auth: this.names["/"].auth, query: this.query }); break;
      case "kick": this.send(`41${head}`); break;
      case "drop": this.ws.close(); this.end(); break;
      case "wrong": this.send("4x"); break;
      case "torn": this.send('451-["echo",{"_placeholder":true,"num":0}]', '42["echo"]'); break;
      case "misplaced": this.send('451-["echo",{"_placeholder":true,"num":1}]', new ArrayBuffer(1)); break;
      case "stray": this.send(new ArrayBuffer(1)); break;
      case "silent": clearInterval(this.timer); break;
    }
  }
}

const queryOf = (url) => Object.fromEntries(new URL(url, "http://a").searchParams);

export default {
  async fetch(request) {
    const query = queryOf(request.url);
    if (query.EIO !== "4" || query.transport !== "polling") return new Response("bad request", { status: 400 });
    if (query.sid === undefined) {
      const session = new Session();
      session.query = query;
      return new Response(session.handshake(["websocket"]));
    }
    const session = sessions.get(query.sid);
    if (session === undefined) return new Response("unknown session", { status: 400 });
    if (request.method === "GET") {
      return new Promise((resolve) => {
        session.poll = resolve;
        session.settle();
      });
    }
    for (const packet of (await request.text()).split("\x1e")) {
      session.take(packet[0] === "b" ? Uint8Array.from(atob(packet.slice(1)), (letter) => letter.charCodeAt(0)).buffer : packet);
    }
    return new Response("ok");
  },
  websocket: {
    open(ws) {
      const query = queryOf(ws.request.url);
      if (query.sid !== undefined) {
        ws.data = { session: sessions.get(query.sid), isProbe: true };
        return;
      }
      const session = new Session();
      session.query = query;
      session.ws = ws;
      ws.data = { session, isProbe: false };
      ws.send(session.handshake([]));
    },
    message(ws, message) {
      const { session, isProbe } = ws.data;
      if (!isProbe) {
        session.take(message);
      } else if (message === "2probe") {
        ws.send("3probe");
        session.send("6");
      } else if (message === "5") {
        ws.data.isProbe = false;
        const kept = session.queue;
        session.queue = [];
        session.ws = ws;
        session.send(...kept);
      }
    },
    close(ws) {
      if (ws.data.session?.ws === ws) ws.data.session.end();
    },
  },
};
