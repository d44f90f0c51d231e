// Needs a broker: `cargo xtask extensions` starts one, and gives where it listens.
import { sleep } from "k6";
import mqtt, { Client, QoS } from "k6/x/mqtt";
import { is, throws } from "../../../../tests/lib/assert.js";

const at = JSON.parse(__ENV.MQTT);

export const options = {
  iterations: 1,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 1"], ...at.thresholds },
};

async function fails(name, promise, text) {
  let told = "nothing";
  await promise.catch((error) => (told = `${error.name} ${error.method} ${error.message}`));
  is(name, told.includes(text) || told, true);
}

// The bytes as characters.
function textOf(payload) {
  const pieces = [];
  for (let at = 0; at < payload.byteLength; at += 1000) {
    pieces.push(String.fromCharCode(...new Uint8Array(payload, at, Math.min(1000, payload.byteLength - at))));
  }
  return pieces.join("");
}

// A client that is connected, and the messages that it gets.
function opened(url, clientOptions, connectOptions) {
  const client = new Client(clientOptions);
  const got = [];
  const waiting = [];
  client.on("message", (topic, payload) => {
    got.push(`${topic}=${textOf(payload)}`);
    waiting.splice(0).forEach((again) => again());
  });
  client.connect(url, connectOptions);
  client.got = async (count) => {
    while (got.length < count) await new Promise((again) => waiting.push(again));
    return got.splice(0).sort();
  };
  return client;
}

let inInit;
try {
  new Client().connect(at.plain ?? "x");
} catch (error) {
  inInit = error.message;
}

export default async function () {
  if (at.restarts) return restarts();
  if (at.untrusted) return throws("an unknown authority", () => new Client().connect(at.untrusted), "certificate");
  is("names", [mqtt.Client === Client, QoS.ExactlyOnce], [true, 2]);
  is("init code", inInit, "connect(): MQTT in the init context is not supported");
  for (const way of ["plain", "tls", "socket", "secureSocket"]) await messages(way, at[way]);
  await events();
  await sessions();
  await will();
  await passwords();
  await pings();
  await many();
  await refusals();
}

async function messages(way, url) {
  const client = opened(url);
  is(`${way}: connected`, client.connected, true);
  client.subscribe("a/+", { qos: QoS.ExactlyOnce });
  await client.subscribeAsync(["b", "c/#"], { qos: 1 });
  client.publish("a/0", "ü");
  client.publish("a/1", "one", { qos: 1 });
  client.publish("a/2", new Uint8Array([116, 119, 111]).buffer, { qos: 2 });
  await client.publishAsync("b", new Uint8Array([120]));
  await Promise.all([client.publishAsync("c/x/y", "1", { qos: 1 }), client.publishAsync("c", "", { qos: 2 })]);
  client.publish("d", "nobody asked");
  const wanted = ["a/0=Ã¼", "a/1=one", "a/2=two", "b=x", "c/x/y=1", "c="].sort();
  is(`${way}: messages`, await client.got(6), wanted);
  client.unsubscribe("a/+");
  await client.unsubscribeAsync(["c/#"], {});
  client.publish("a/3", "gone");
  client.publish("b", "still");
  is(`${way}: unsubscribed`, await client.got(1), ["b=still"]);
  // mosquitto 2.0.11 does not send more than it can write at once over a WebSocket.
  const large = "x".repeat(url.startsWith("w") ? 3e4 : 3e6);
  client.publish("b", large, { qos: 1 });
  is(`${way}: a large one`, (await client.got(1))[0].length, large.length + 2);
  await client.endAsync();
  is(`${way}: ended`, client.connected, false);
}

async function events() {
  const client = new Client({ tags: { who: "events" } });
  const seen = [];
  for (const event of ["connect", "reconnect", "end"]) client.on(event, () => seen.push(event));
  const over = new Promise((done) => client.on("end", done));
  is("not connected", client.connected, false);
  await client.connectAsync({ servers: [at.nobody, at.plain], connect_timeout: 5000 });
  is("the second broker", client.connected, true);
  client.reconnect();
  sleep(0.01);
  await new Promise((done) => setTimeout(done, 20));
  client.end({ tags: { last: "yes" } });
  await over;
  is("events", seen.join(), "reconnect,connect,connect,end");
  client.end();
  const heard = [];
  client.on("error", (error) => heard.push([error.name, error.method, error.message.slice(0, 13)]));
  client.publish("x", "y");
  client.connect(at.nobody);
  is("errors", [heard[0], heard[1].slice(0, 2)], [["MQTTError", "publish", "not connected"], ["MQTTError", "connect"]]);
}

async function sessions() {
  const kept = { client_id: "kept" };
  const first = opened(at.plain, kept, { clean_session: false });
  first.subscribe("kept", { qos: 1 });
  first.end();
  const other = opened(at.plain);
  other.publish("kept", "meanwhile", { qos: 1 });
  other.publish("retained", "for later", { retain: true, qos: 1 });
  other.subscribe("retained");
  is("retained", await other.got(1), ["retained=for later"]);
  other.publish("retained", "", { retain: true, qos: 1 });
  const again = opened(at.plain, { clientId: "kept" }, { clean_session: false });
  is("what came meanwhile", await again.got(1), ["kept=meanwhile"]);
  again.end();
  opened(at.plain, kept).end();
  other.end();
}

async function will() {
  const heir = opened(at.plain);
  heir.subscribe("will", { qos: 1 });
  const options = { client_id: "mortal", will: { topic: "will", payload: "gone", qos: 1 } };
  const mortal = opened(at.plain, options);
  // A second client of that name: the broker drops the first.
  opened(at.plain, { client_id: "mortal" }).end();
  is("the last will", await heir.got(1), ["will=gone"]);
  mortal.end();
  heir.end();
}

async function passwords() {
  const login = { username: "ann", password: "secret" };
  opened(at.password, login).end();
  opened(at.password, { credentials_provider: () => login }).end();
  opened(at.password.replace("://", "://ann:secret@")).end();
  const refused = "the broker refused the connection: not authorized";
  throws("a wrong password", () => new Client({ ...login, password: "x" }).connect(at.password), refused);
  await fails("nobody", new Client().connectAsync(at.password), `MQTTError connectAsync ${at.password}: ${refused}`);
}

async function pings() {
  const client = opened(at.plain, {}, { keepalive: 1 });
  client.subscribe("awake");
  // The broker drops who is silent for one and a half of it, so the pings must go out while the script sleeps.
  sleep(3);
  client.publish("awake", "yes");
  is("kept alive", await client.got(1), ["awake=yes"]);
  client.end();
}

// In groups: mosquitto 2.0.11 forgets what it queues beyond the 20 that it sends at once, also for its own mosquitto_sub.
async function many() {
  const client = opened(at.plain);
  client.subscribe("many", { qos: 2 });
  for (let group = 0; group < 25; group++) {
    const numbers = Array.from({ length: 20 }, (_, n) => `${group * 20 + n}`);
    await Promise.all(numbers.map((number) => client.publishAsync("many", number, { qos: group % 3 })));
    is("each once", await client.got(20), numbers.map((number) => `many=${number}`).sort());
  }
  client.end();
}

async function refusals() {
  const client = new Client();
  throws("an unknown event", () => client.on("close", () => {}), 'unknown event "close", expected one of connect, message');
  throws("no listener", () => client.on("end"), "is no function");
  throws("no broker", () => client.connect(), "no broker: give its URL");
  throws("a scheme", () => client.connect("http://x"), "unknown scheme http, expected mqtt, tcp, mqtts");
  throws("a session without a name", () => client.connect(at.plain, { clean_session: false }), "needs a client_id");
  throws("nobody there", () => client.connect(at.nobody), "connection refused");
  throws("not connected", () => client.subscribe("x"), "not connected: call connect() first");
  throws("never connected", () => client.reconnect(), "call connect() first");
  throws("a method of nobody", () => Client.prototype.publish.call({}, "x", "y"), "must be called on a Client");
  client.connect(at.plain);
  throws("twice", () => client.connect(at.plain), "the client is connected: call end() first");
  throws("a topic with a wildcard", () => client.publish("a/#", "x"), "expected 1 to 65535 bytes without + and #");
  throws("a wrong filter", () => client.subscribe("a/#/b"), "is no topic filter");
  throws("a wrong quality", () => client.publish("a", "x", { qos: 3 }), "qos: found 3, expected 0, 1 or 2");
  throws("a payload", () => client.publish("a", {}), "found object for the payload, expected a string");
  await fails("denied", client.subscribeAsync("x".repeat(65536)), "no topic filter");
  client.end();
}

// The broker goes away and comes back.
async function restarts() {
  const client = new Client({ client_id: "steady" });
  const [seen, errors, got] = [[], [], []];
  client.on("connect", () => {
    seen.push("connect");
    client.subscribe("back", { qos: 1 });
    if (seen.length === 1) return;
    // What was published without a broker comes when there is one.
    client.subscribe("late", { qos: 1 });
  });
  client.on("reconnect", () => seen.push("reconnect"));
  client.on("error", (error) => errors.push(`${error.method}: ${error.message}`));
  client.on("message", (topic, payload) => got.push(textOf(payload)));
  client.connect(at.restarts, { keepalive: 5 });
  while (client.connected) await new Promise((done) => setTimeout(done, 50));
  client.publish("x", "lost");
  is("without a broker", errors.pop(), "publish: not connected: call connect() first, or wait for the event connect");
  is("the loss", errors[0].startsWith("connect: the connection was lost:") || errors, true);
  await client.publishAsync("kept", "1", { qos: 1 });
  is("there is one again", client.connected, true);
  is("order", [seen[0], seen[1], seen.at(-1)], ["connect", "reconnect", "connect"]);
  while (got.length === 0) {
    await client.publishAsync("back", "hello", { qos: 1 });
    await new Promise((done) => setTimeout(done, 50));
  }
  is("subscribed again", got[0], "hello");
  await client.endAsync();
}
