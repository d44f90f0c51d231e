// parity: console
// WebSocket and Blob: events, states, messages, closes and what goes wrong, against the target whose address is in TARGET. Runs under
// k6 as well.
import { check, sleep } from "k6";
import http from "k6/http";
import { Blob, WebSocket } from "k6/websockets";
import { thrown } from "../../../../tests/lib/assert.js";

const base = `ws${__ENV.TARGET.slice(4)}/ws`;

export const options = {
  thresholds: {
    checks: ["rate==1"],
    "ws_sessions{my:tag}": ["count==1"],
    "ws_sessions{status:101}": ["count==10"],
    "ws_sessions{status:404}": ["count==1"],
    "ws_msgs_sent{subproto:one}": ["count==2"],
    "ws_msgs_sent{my:sent}": ["count==6"],
    "ws_msgs_received{my:sent}": ["count==4"],
    "ws_session_duration{name:called}": ["max>0"],
    ws_connecting: ["max>0"],
    ws_ping: ["max>0"],
  },
};

/** What happened on a socket until it was closed. */
function watch(socket, handlers = {}) {
  return new Promise((resolve) => {
    const log = [];
    for (const type of ["open", "message", "error", "ping", "pong", "close"]) {
      socket.addEventListener(type, (event) => {
        log.push(type === "close" ? `close ${event.code} ${event.reason}` : type === "error" ? `error ${event.error}` : type);
        if (handlers[type]) handlers[type](event);
        if (type === "close") resolve(log);
      });
    }
  });
}

async function messages() {
  const socket = new WebSocket(`${base}/echo`, null, { tags: { my: "sent" } });
  socket.binaryType = "arraybuffer";
  check(socket, {
    "connecting": (s) => s.readyState === 0 && s.url === `${base}/echo` && s.bufferedAmount === 0 && s.protocol === "",
    "nothing goes out before": (s) => thrown(() => s.send("x")) === "GoError: InvalidStateError",
    "the type of binary messages": (s) => thrown(() => (s.binaryType = "other")).startsWith("GoError: unknown binaryType other"),
  });
  const data = [];
  const events = [];
  socket.onmessage = (event) => {
    events.push(event);
    data.push(typeof event.data === "string" ? event.data : new Uint8Array(event.data).join("-"));
    if (data.length === 3) socket.binaryType = "blob";
    if (data.length === 4) half();
  };
  // With the last message and the pong, whichever comes later.
  let halves = 0;
  const half = () => {
    if (++halves === 2) socket.close();
  };
  socket.onpong = half;
  socket.onopen = (event) => {
    check(event, {
      "open": (e) => socket.readyState === 1 && e.type === "open" && e.target === socket && Math.abs(e.timestamp - Date.now()) < 10000,
      "values that are no message": () => thrown(() => socket.send(5)).startsWith("GoError: unsupported send type"),
    });
    socket.send("h\u00e9llo");
    socket.send(new Uint8Array([1, 2, 255]).buffer);
    socket.send(new Uint8Array([9, 8, 7]).subarray(1));
    socket.send("last");
    check(socket.bufferedAmount, { "what is queued is told": (n) => n > 0 });
    socket.ping();
  };
  const log = await watch(socket);
  check(data, { "messages arrive in order": (d) => d.join() === "h\u00e9llo,1-2-255,8-7,last" });
  check(events[0], { "of a message": (e) => e.type === "message" && e.origin === socket.url });
  check(log.filter((type) => type !== "message").join(), { "events": (l) => l === "open,pong,close 1000 " });
  check(socket.readyState, { "closed": (state) => state === 3 });
}

async function closes() {
  const codes = new WebSocket(`${base}/echo`);
  const refused = [];
  const log = await watch(codes, {
    open: () => {
      for (const bad of [5, 1001, 2999, 5000]) refused.push(thrown(() => codes.close(bad)));
      refused.push(thrown(() => codes.close(3000, "x".repeat(124))));
      codes.close(3000, "bye");
      check(codes.readyState, { "closing": (state) => state === 2 });
      codes.close();
      refused.push(thrown(() => codes.send("late")));
    },
  });
  check(refused, {
    "codes are checked": (r) => r.slice(0, 4).every((text) => text.startsWith("GoError: InvalidAccessError")),
    "reasons are checked": (r) => r[4].startsWith("GoError: SyntaxError"),
    "closing sockets take nothing": (r) => r[5] === "GoError: InvalidStateError",
  });
  check(log, { "closed": (l) => l.at(-1).startsWith("close ") && l[0] === "open" });
  const of = (path, params) => watch(new WebSocket(`${base}${path}`, null, params));
  const [server, drop, bad, flood] = await Promise.all([
    of("/close/4001?reason=because", { tags: { name: "called" } }),
    of("/fault/drop"),
    of("/fault/bad-frame"),
    of("/fault/flood?count=5000"),
  ]);
  check(null, {
    "by the server": () => server.join() === "open,error websocket: close 4001: because,close 4001 because",
    "without a word": () =>
      drop.join() === "open,error websocket: close 1006 (abnormal closure): unexpected EOF,close 1006 unexpected EOF",
    "after a bad frame": () => bad[0] === "open" && bad.at(-1) === "close undefined ",
    "after a flood": () => flood.filter((type) => type === "message").length === 5000 && flood.at(-1) === "close 1000 ",
  });
}

async function failures() {
  const [refused, missing] = await Promise.all([
    watch(new WebSocket("ws://127.0.0.1:1/")),
    watch(new WebSocket(`${base}/nothing`)),
  ]);
  check(null, {
    "nobody listens": () => refused.join() === "error dial tcp 127.0.0.1:1: connect: connection refused,close undefined ",
    "another answer": () => missing.join() === "error websocket: bad handshake,close undefined ",
    "no address": () => thrown(() => new WebSocket()) === "GoError: WebSocket requires a url",
    "another scheme": () =>
      thrown(() => new WebSocket("http://a/")) === 'GoError: WebSocket requires url with scheme ws or wss, but got "http"',
    "a fragment": () => thrown(() => new WebSocket("ws://a/#b")) === 'GoError: WebSocket requires no url fragment, but got "b"',
    "unknown params": () => thrown(() => new WebSocket(base, null, { foo: 1 })) === "GoError: unknown WebSocket's option foo",
    "unknown compression": () => thrown(() => new WebSocket(base, null, { compression: "gzip" })).includes("'gzip'"),
  });
}

async function handlers() {
  const socket = new WebSocket(`${base}/broadcast/handlers?self=true`, ["one", "two"], { tags: { my: "tag" } });
  check(null, {
    "handlers are functions": () =>
      thrown(() => (socket.onopen = 5)) === "GoError: a value for 'onopen' should be callable" &&
      thrown(() => socket.addEventListener("open")).includes("isn't a callable function"),
  });
  const order = [];
  socket.onopen = () => {
    order.push("own");
    socket.send("one");
    order.push(http.get(`${__ENV.TARGET}/get`).status);
    sleep(0.01);
    setTimeout(() => order.push("timer"), 1);
    Promise.resolve().then(() => order.push("job"));
  };
  socket.addEventListener("open", () => order.push("added"));
  socket.addEventListener("message", () => setTimeout(() => socket.close(), 30));
  await watch(socket);
  check(order, { "in their order": (o) => o.join() === "own,200,job,added,timer" });
  check(socket.protocol, { "the subprotocol": (protocol) => protocol === "one" });
  const compressed = new WebSocket(`${base}/echo`, null, { compression: "deflate" });
  const long = "long ".repeat(100000);
  let same = false;
  await watch(compressed, {
    open: () => compressed.send(long),
    message: (event) => {
      same = event.data === long;
      compressed.close();
    },
  });
  check(compressed.extensions, { "compressed": (e) => same && e.length === 1 && e[0].startsWith("permessage-deflate") });
}

/** A single handler of messages and several are told the same, and either may change while messages come. */
async function changes() {
  const socket = new WebSocket(`${base}/echo`);
  const seen = [];
  const note = (who) => (event) => seen.push(`${who} ${event.data} ${Object.keys(event)} ${event.target === socket}`);
  socket.onmessage = note("first");
  const log = await watch(socket, {
    open: () => socket.send("a"),
    message: (event) => {
      if (event.data === "a") {
        socket.onmessage = note("second");
        socket.send("b");
      } else {
        socket.onmessage = null;
        if (event.data === "b") socket.send("c");
        else socket.close();
      }
    },
  });
  const keys = "type,target,timestamp,data,origin true";
  check(seen, { "handlers may change": (s) => s.join("; ") === `first a ${keys}; second b ${keys}` });
  check(log, { "and listeners hear all": (l) => l.join() === "open,message,message,message,close 1000 " });
  const single = new WebSocket(`${base}/echo`);
  const alone = [];
  single.onopen = () => single.send("x");
  single.onmessage = (event) => {
    alone.push(`${event.data} ${Object.keys(event)} ${event.target === single} ${event.type} ${event.origin === single.url}`);
    event.more = 1;
    single.onmessage = (next) => {
      alone.push(`${next.data} ${next.more}`);
      single.addEventListener("message", () => single.close());
      single.onmessage = undefined;
      single.send("z");
    };
    single.send("y");
  };
  // Not `watch`, whose listeners would make it one of several.
  await new Promise((resolve) => single.addEventListener("close", resolve));
  check(alone, { "a single handler": (a) => a.join("; ") === `x ${keys} message true; y undefined` });
}

async function blobs() {
  const blob = new Blob(["ab", new Uint8Array([67]), new Uint8Array([68]).buffer, new Blob(["e"])], { type: "text/plain" });
  const part = blob.slice(1, 3, "x/y");
  const [text, buffer, bytes, middle] = await Promise.all([blob.text(), blob.arrayBuffer(), blob.bytes(), part.text()]);
  check(null, {
    "size and type": () => blob.size === 5 && blob.type === "text/plain" && new Blob().size === 0,
    "content": () => text === "abCDe" && buffer.byteLength === 5 && bytes.length === 5 && middle === "bC",
    "parts": () => part.size === 2 && part.type === "x/y",
    "what is no part": () => thrown(() => new Blob([5])).startsWith("GoError: failed to process [blobParts]"),
  });
  const reader = blob.stream().getReader();
  const first = await reader.read();
  check(first, { "a stream": (f) => f.done === false });
}

export default async function () {
  await messages();
  await closes();
  await failures();
  await handlers();
  await changes();
  await blobs();
  console.log("done");
}
