// Needs servers: `cargo xtask extensions tcp` has them and gives their ports. Each does one thing with a connection.
import { sleep } from "k6";
import tcp, { Socket } from "k6/x/tcp";
import { is, throws } from "../../../../tests/lib/assert.js";

export const options = {
  iterations: 1,
  hosts: { "echo.onrush.test": "127.0.0.1" },
  thresholds: {
    checks: ["rate == 1"],
    iterations: ["count == 1"],
    tcp_sockets: ["count == 17"],
    "tcp_sockets{host:echo.onrush.test}": ["count == 1"],
    "tcp_sockets{proto:TCP}": ["count == 17"],
    "tcp_sockets{of:socket}": ["count == 1"],
    "tcp_writes{of:connection}": ["count == 1"],
    "tcp_writes{of:write}": ["count == 1"],
    "tcp_reads{of:connection}": ["count > 0"],
    "tcp_socket_duration{of:connection}": ["min > 0"],
    tcp_socket_resolving: ["min >= 0", "max < 5000"],
    tcp_socket_connecting: ["min > 0", "max < 5000"],
    tcp_socket_duration: ["min > 0", "max > 200"],
    tcp_errors: ["count == 5"],
    tcp_timeouts: ["count >= 3"],
    tcp_partial_writes: ["count == 1"],
    data_sent: ["count > 3000000"],
    data_received: ["count > 3000000"],
  },
};

const ports = JSON.parse(__ENV.TCP);

async function fails(name, promise, text) {
  let error = {};
  await promise.then(() => {}, (thrown) => (error = thrown));
  is(name, [error.name, String(error.message).includes(text) || String(error.message)], ["GoError", true]);
}

const text = (bytes) => String.fromCharCode(...bytes);

/** A socket and what it told, in order. */
function watched(options) {
  const [socket, told] = [new Socket(options), []];
  socket.received = "";
  socket.on("connect", () => told.push(`connect ${socket.ready_state}`));
  socket.on("data", (data) => {
    socket.received += text(data);
    if (told.at(-1) !== "data") told.push("data");
  });
  socket.on("timeout", () => told.push("timeout"));
  socket.on("error", (error) => told.push(`error ${error.message}`));
  const closed = new Promise((resolve) => socket.on("close", () => resolve(told.push(`close ${socket.ready_state}`))));
  return { socket, told, closed };
}

/** Waits until so many bytes were echoed. */
async function echoed(socket, length) {
  while (socket.bytes_read < length) await new Promise((resolve) => setTimeout(resolve, 2));
}

const early = new Socket();
let inInit = "nothing";
try {
  early.connect(ports.echo);
} catch (error) {
  inInit = error.message;
}

export default async function () {
  is("names", tcp.Socket === Socket, true);
  is("init code", inInit, "connect() in the init context is not supported");
  await life();
  await contents();
  await tags();
  await much();
  await silence();
  await ends();
  await failures();
  await mistakes();
  await destroying();
}

async function life() {
  const { socket, told, closed } = watched();
  is("new", [socket.ready_state, socket.connected, socket.bytes_read, socket.bytes_written], ["disconnected", false, 0, 0]);
  is("nowhere", [socket.local_ip, socket.local_port, socket.remote_ip, socket.remote_port], [null, null, null, null]);
  const connecting = socket.connect(ports.echo, "127.0.0.1");
  is("opening", [socket.ready_state, socket.connected], ["opening", false]);
  is("connect gives nothing", [await connecting, told], [undefined, ["connect open"]]);
  is("open", [socket.ready_state, socket.connected], ["open", true]);
  is("the server", [socket.remote_ip, socket.remote_port, socket.local_ip], ["127.0.0.1", ports.echo, "127.0.0.1"]);
  is("a port of its own", socket.local_port > 0, true);
  is("write gives nothing", [await socket.write("hello"), socket.bytes_written], [undefined, 5]);
  await echoed(socket, 5);
  is("echo", [socket.received, socket.bytes_read], ["hello", 5]);
  is("chains", [socket.destroy() === socket, socket.ready_state], [true, "destroyed"]);
  socket.destroy();
  await closed;
  is("what it told", told, ["connect open", "data", "close destroyed"]);
  is("still known", [socket.remote_port, socket.bytes_read, socket.connected], [ports.echo, 5, false]);
}

async function contents() {
  const { socket, closed } = watched();
  is("its options", await socket.connect({ port: String(ports.echo), host: "localhost" }), undefined);
  let kind = "";
  socket.on("data", (data) => {
    kind = data.constructor.name;
    socket.received += text(data);
  });
  const sent = [
    ["ü", {}],
    [new Uint8Array([1, 2, 255]).buffer, { encoding: "none, for bytes" }],
    [new Uint8Array([0, 65, 66, 0]).subarray(1, 3), undefined],
    ["QUI=", { encoding: "base64" }],
    ["4142", { encoding: "hex" }],
    ["", {}],
  ];
  // Not awaited one by one: they keep their order.
  await Promise.all(sent.map(([data, options]) => socket.write(data, options)));
  await echoed(socket, 11);
  is("all of it", [socket.received, socket.bytes_written], ["\xc3\xbc\x01\x02\xffABABAB", 11]);
  is("bytes", kind, "Uint8Array");
  socket.destroy();
  await closed;
}

async function tags() {
  const { socket, closed } = watched({ tags: { of: "socket" } });
  await socket.connectAsync(ports.echo, "echo.onrush.test");
  await socket.writeAsync("x", { tags: { of: "write" } });
  await echoed(socket, 1);
  socket.destroy();
  await closed;
  const other = watched({ tags: { of: "socket" } });
  await other.socket.connect({ port: ports.echo, host: "127.0.0.1", tags: { of: "connection" } });
  await other.socket.write("x");
  await echoed(other.socket, 1);
  other.socket.destroy();
  await other.closed;
}

async function much() {
  const { socket, closed } = watched();
  await socket.connect(ports.echo, "127.0.0.1");
  const piece = "0123456789abcdef".repeat(1 << 16);
  let largest = 0;
  const parts = [];
  socket.on("data", (data) => {
    largest = Math.max(largest, data.length);
    parts.push(text(data));
  });
  const writes = [piece, piece, piece].map((content) => socket.write(content));
  await Promise.all(writes);
  await echoed(socket, 3 * piece.length);
  is("three megabytes", parts.join("") === piece.repeat(3), true);
  is("in pieces", largest, 4096);
  // What was written goes out while the user waits for something else.
  const before = socket.bytes_read;
  socket.write("late");
  sleep(0.1);
  is("no event during sleep", socket.bytes_read, before);
  await echoed(socket, before + 4);
  socket.destroy();
  await closed;
}

async function silence() {
  const { socket, told, closed } = watched();
  is("setTimeout chains", socket.setTimeout(60) === socket, true);
  await socket.connect(ports.echo, "127.0.0.1");
  const began = Date.now();
  while (told.filter((what) => what === "timeout").length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  is("three times", Date.now() - began >= 170, true);
  is("still open", socket.connected, true);
  socket.setTimeout(0);
  const before = told.length;
  await new Promise((resolve) => setTimeout(resolve, 150));
  is("never", told.length, before);
  socket.setTimeout(10000);
  socket.destroy();
  await closed;
}

async function ends() {
  const half = watched();
  await half.socket.connect(ports.half, "127.0.0.1");
  await half.closed;
  is("the server's end", [half.told, half.socket.received], [["connect open", "data", "close destroyed"], "bye"]);
  const reset = watched();
  await reset.socket.connect(ports.reset, "127.0.0.1");
  await reset.socket.write("more than it reads");
  await reset.closed;
  const ways = `${reset.socket.local_ip}:${reset.socket.local_port}->127.0.0.1:${ports.reset}`;
  const why = `error read tcp ${ways}: read: connection reset by peer`;
  is("a reset", reset.told, ["connect open", why, "close destroyed"]);
}

async function failures() {
  const { socket, told, closed } = watched();
  const why = "dial tcp 127.0.0.1:1: connect: connection refused";
  await fails("nobody there", socket.connect(1, "127.0.0.1"), why);
  is("told as well", [told, socket.ready_state], [[`error ${why}`], "disconnected"]);
  // Nobody looks after this promise, and the handler was told.
  socket.connect(1, "127.0.0.1");
  while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  await fails("too early", socket.write("x"), "write(): the socket is disconnected, expected one that is open");
  await socket.connect(ports.echo, "127.0.0.1");
  await fails("twice", socket.connect(ports.echo, "127.0.0.1"), "connect(): the socket is open, expected one that is disco");
  is("still open", socket.connected, true);
  socket.destroy();
  await closed;
}

async function mistakes() {
  const { socket, told } = watched();
  const port = (given) => `connect(): found the port "${given}", expected a whole number from 1 to 65535`;
  for (const given of [0, 65536, 1.5, "http"]) await fails(`port ${given}`, socket.connect(given), port(given));
  await fails("no port", socket.connect({ host: "x" }), "connect(): found no port, expected one from 1 to 65535");
  await fails("no host", socket.connect(80, ""), "connect(): found an empty host");
  const encodings = "expected one of utf8, utf-8, ascii, base64, base64url, hex";
  await fails("an encoding", socket.write("x", { encoding: "latin1" }), `found the encoding "latin1", ${encodings}`);
  await fails("a number", socket.write(5), "write(): found int to write, expected a string, an ArrayBuffer");
  throws("an event", () => socket.on("drain", () => {}), 'on(): found the event "drain", expected one of connect, data,');
  throws("a handler", () => socket.on("data", "x"), 'on("data"): the second argument must be a function');
  throws("a time", () => socket.setTimeout(-1), "setTimeout(): found -1, expected milliseconds");
  throws("a stranger", () => Socket.prototype.write.call({}, "x"), "this belongs to a Socket: use it on one");
  is("no failures of the connection", told, []);
}

async function destroying() {
  const never = watched();
  never.socket.destroy();
  await never.closed;
  is("never connected", never.told, ["close destroyed"]);
  const opening = watched();
  const promise = opening.socket.connect(ports.echo, "127.0.0.1");
  opening.socket.destroy();
  await fails("while it opens", promise, "the socket was destroyed");
  await opening.closed;
  is("no connect", opening.told, ["close destroyed"]);
  const given = watched();
  await given.socket.connect(ports.echo, "127.0.0.1");
  given.socket.destroy(new Error("enough"));
  await given.closed;
  is("an error of the script", given.told, ["connect open", "error enough", "close destroyed"]);
  const stuck = watched();
  await stuck.socket.connect(ports.sink, "127.0.0.1");
  const write = stuck.socket.write("x".repeat(64 << 20));
  await new Promise((resolve) => setTimeout(resolve, 100));
  is("a part", stuck.socket.connected, true);
  stuck.socket.destroy();
  await fails("what nobody reads", write, "the socket was destroyed");
  await stuck.closed;
  is("bytes of the part", stuck.socket.bytes_written > 0 && stuck.socket.bytes_written < 64 << 20, true);
  const inside = watched();
  inside.socket.on("connect", () => inside.socket.destroy());
  await inside.socket.connect(ports.echo, "127.0.0.1");
  await inside.closed;
  const five = Array.from({ length: 5 }, () => watched());
  await Promise.all(five.map(({ socket }) => socket.connect(ports.echo, "127.0.0.1")));
  await Promise.all(five.map(({ socket }, number) => socket.write(`number ${number}`)));
  await Promise.all(five.map(({ socket }) => echoed(socket, 8)));
  is("five at once", five.map(({ socket }) => socket.received), [0, 1, 2, 3, 4].map((number) => `number ${number}`));
  five.forEach(({ socket }) => socket.destroy());
}
