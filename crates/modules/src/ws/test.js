// parity: console
// Sockets of k6/ws: messages, events, timers, closes and what goes wrong, against the target whose address is in TARGET. Runs under
// k6 as well.
import { check, sleep } from "k6";
import http from "k6/http";
import ws from "k6/ws";
import { thrown } from "../../../../tests/lib/assert.js";

const base = `ws${__ENV.TARGET.slice(4)}/ws`;

export const options = {
  thresholds: {
    checks: ["rate==1"],
    "ws_sessions{my:tag}": ["count==1"],
    "ws_sessions{status:101}": ["count==14"],
    "ws_sessions{status:404}": ["count==1"],
    "ws_msgs_sent{subproto:one}": ["count==1"],
    "ws_session_duration{name:called}": ["max>0"],
    ws_msgs_received: ["count>0"],
    ws_connecting: ["max>0"],
    ws_ping: ["max>0"],
  },
};

const refusedInInit = thrown(() => ws.connect(base, () => {}));

function connect(path, params, begin) {
  const log = [];
  const response = ws.connect(`${base}${path}`, params, (socket) => {
    socket.on("close", (code) => log.push(`close ${code}`));
    socket.on("error", (error) => log.push(`error ${error.error()}`));
    begin(socket, log);
  });
  return { log, response };
}

function messages() {
  const { log, response } = connect("/echo", null, (socket, log) => {
    socket.on("open", (...args) => {
      log.push(`open ${args.length}`);
      socket.send("h\u00e9llo");
      socket.send(5);
      socket.sendBinary(new Uint8Array([1, 2, 255]).buffer);
      socket.ping();
    });
    socket.on("message", (text) => log.push(text));
    socket.on("message", (text) => log.push(`again ${text}`));
    socket.on("binaryMessage", (bytes) => log.push(`${bytes instanceof ArrayBuffer} ${new Uint8Array(bytes).join()}`));
    socket.on("pong", () => socket.close());
  });
  check(log, {
    "messages arrive in order": (l) => l.join() === "open 0,h\u00e9llo,again h\u00e9llo,5,again 5,true 1,2,255,close 1001",
  });
  check(response, {
    "the response": (r) => Object.keys(r).join() === "url,status,headers,body,error" && r.status === 101 && r.error === "",
    "its address": (r) => r.url === `${base}/echo`,
    "its headers": (r) => r.headers.Upgrade === "websocket" && r.headers["Sec-Websocket-Accept"].length === 28,
  });
  const long = "long ".repeat(200000);
  const echoed = [];
  connect("/echo", { compression: "deflate" }, (socket) => {
    socket.on("open", () => [long, "", "x"].forEach((text) => socket.send(text)));
    socket.on("message", (text) => {
      echoed.push(text === long ? "long" : text);
      if (text === "x") socket.close(1000);
    });
  });
  check(echoed, { "compressed messages": (e) => e.join() === "long,,x" });
}

function timers() {
  const { log } = connect("/echo", {}, (socket, log) => {
    let ticks = 0;
    socket.setInterval(() => log.push(`tick ${++ticks}`), 20);
    socket.setTimeout(() => log.push("once"), 50);
    socket.setTimeout(() => socket.close(3001), 75);
    socket.setTimeout(() => log.push("never"), 100000);
    for (const bad of [0, -1, "x"]) log.push(thrown(() => socket.setTimeout(() => {}, bad)));
  });
  check(log, {
    "timers refuse": (l) =>
      l.slice(0, 3).join("|") ===
      "GoError: setTimeout requires a >0 timeout parameter, received 0.00|" +
        "GoError: setTimeout requires a >0 timeout parameter, received -1.00|" +
        "GoError: setTimeout requires a >0 timeout parameter, received NaN",
    "timers run until the close": (l) => l[3] === "tick 1" && l.includes("once") && l.at(-1) === "close 3001" && !l.includes("never"),
  });
}

function closes() {
  const log = (path) => connect(path, {}, () => {}).log.join();
  check(null, {
    "closed by the server": () => log("/close/4001?reason=because") === "error websocket: close 4001: because,close 4001",
    "closed as usual": () => log("/close/1000") === "close 1000",
    "gone in the middle of a message": () =>
      log("/fault/mid-message") === "error websocket: close 1006 (abnormal closure): unexpected EOF,close 1006",
    "gone without a word": () => log("/fault/drop").endsWith("close 1006"),
    "a bad frame": () => /^error .*,close 1001$/.test(log("/fault/bad-frame")),
  });
  let received = 0;
  const flood = connect("/fault/flood?count=20000", {}, (socket) => socket.on("message", () => received++));
  check(flood, { "a flood": (f) => received === 20000 && f.log.join() === "close 1000" });
}

function failures() {
  const status = (params) => connect("/echo", params, (socket) => socket.on("open", () => socket.close())).response;
  check(null, {
    "not in init code": () => refusedInInit === "GoError: using websockets in the init context is not supported",
    "another answer": () => {
      const { response } = connect("/nothing", {}, () => {});
      return response.status === 404 && response.url === "" && response.error === "" && response.body.includes("404");
    },
    "nobody listens": () => {
      const response = ws.connect("ws://127.0.0.1:1/", {}, () => {});
      return response.status === 0 && response.error === "dial tcp 127.0.0.1:1: connect: connection refused";
    },
    "another scheme": () => ws.connect("http://127.0.0.1/", {}, () => {}).error === "malformed ws or wss URL",
    "a header of the handshake": () =>
      status({ headers: { upgrade: "x" } }).error === "websocket: duplicate header not allowed: Upgrade",
    "an unknown compression": () =>
      thrown(() => status({ compression: "gzip" })) ===
      "GoError: unsupported compression algorithm 'gzip', supported algorithm is 'deflate'",
    "a tag that is none": () => thrown(() => status({ tags: { a: {} } })).includes("invalid value for metric tag 'a'"),
    "too few arguments": () => thrown(() => ws.connect(base)) === "GoError: invalid number of arguments to ws.connect",
    "no function": () => thrown(() => ws.connect(base, {})) === "GoError: last argument to ws.connect must be a function",
  });
  const seen = [];
  const error = thrown(() =>
    connect("/echo", {}, (socket) => {
      socket.on("open", () => socket.send("x"));
      socket.on("message", () => {
        throw new TypeError("of a handler");
      });
      socket.on("close", (code) => seen.push(code));
    }),
  );
  check(error, { "exceptions of handlers close and come out": (e) => e === "TypeError: of a handler" && seen.join() === "1001" });
}

function blocking() {
  const { log } = connect("/broadcast/blocking?self=true", {}, (socket, log) => {
    socket.on("open", () => {
      socket.send("one");
      const response = http.get(`${__ENV.TARGET}/get?a=b`);
      log.push(`status ${response.status}`);
      sleep(0.01);
      socket.send("two");
    });
    socket.on("message", (text) => {
      log.push(text);
      if (text === "two") socket.close(1000);
    });
  });
  check(log, { "handlers may wait for requests": (l) => l.join() === "status 200,one,two,close 1000" });
}

function agreements() {
  const jar = new http.CookieJar();
  jar.set(`${__ENV.TARGET}/`, "crumb", "one");
  const params = {
    headers: { "Sec-WebSocket-Protocol": "one, two", "x-mine": "given" },
    tags: { my: "tag", number: 5 },
    jar,
  };
  const { response } = connect("/echo", params, (socket) => {
    socket.on("open", () => {
      socket.send("x");
      socket.close();
    });
  });
  check(response, { "a subprotocol by header": (r) => r.headers["Sec-Websocket-Protocol"] === "one" });
  connect("/echo", { tags: { name: "called" } }, (socket) => socket.on("open", () => socket.close()));
}

export default function () {
  messages();
  timers();
  closes();
  failures();
  blocking();
  agreements();
  const order = [];
  let late;
  Promise.resolve().then(() => order.push("job"));
  connect("/echo", {}, (socket) => {
    late = socket;
    socket.on("open", () => order.push("open"));
    socket.on("close", () => order.push("close"));
    socket.close(1000);
    socket.close(1001);
    order.push("begun");
  });
  check(order, { "closed before it is open": (o) => o.join() === "close,begun,open" });
  late.setTimeout(() => {}, 5);
  console.log("done");
}
