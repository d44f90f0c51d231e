// Needs brokers: `cargo xtask extensions` starts some, and gives where they listen.
import { sleep } from "k6";
import * as kafka from "k6/x/kafka";
import { is, throws } from "../../../../tests/lib/assert.js";

const { Writer, Reader, Connection, SchemaRegistry, SCHEMA_TYPE_STRING, SCHEMA_TYPE_BYTES, SCHEMA_TYPE_JSON } = kafka;
const at = JSON.parse(__ENV.KAFKA);
const brokers = at.plain;

// Members of a group that come later, while others consume.
const members = {
  feed: { executor: "per-vu-iterations", iterations: 1, exec: "feed", startTime: "1s" },
  first: { executor: "per-vu-iterations", iterations: 1, exec: "eat" },
  late: { executor: "per-vu-iterations", vus: 2, iterations: 1, exec: "eat", startTime: "3s" },
};
const alone = { checks: ["rate == 1"], iterations: ["count == 1"] };

export const options = {
  ...(at.members ? { scenarios: members } : { iterations: 1 }),
  thresholds: { ...(at.members ? {} : alone), ...at.thresholds },
};

const registry = new SchemaRegistry();
const connection = new Connection({ address: brokers[0] });
const bytes = (data) => registry.serialize({ data, schemaType: SCHEMA_TYPE_STRING });
const text = (data) => registry.deserialize({ data, schemaType: SCHEMA_TYPE_STRING });
const writer = new Writer({ brokers, topic: "words", requiredAcks: -1 });
const reader = new Reader({ brokers, topic: "words", maxWait: "5s" });

// As scripts of k6 do.
if (__VU == 0) connection.createTopic({ topic: "words" });

export default function () {
  is("made in init code", connection.listTopics().includes("words"), true);
  messages();
  registries();
  topics();
  codecs();
  balancers();
  groups();
  logins();
  refusals();
}

function messages() {
  const time = new Date("2024-05-06T07:08:09.123Z");
  writer.produce({
    messages: [
      { key: bytes("k1"), value: bytes("ü€😀"), headers: { a: "b", n: 1 }, time, partition: 0 },
      { value: "a string" },
      { key: "k3", value: null },
    ],
  });
  const got = reader.consume({ limit: 3 });
  is("messages", got.map((message) => [message.topic, message.partition, message.offset]), [
    ["words", 0, 0],
    ["words", 0, 1],
    ["words", 0, 2],
  ]);
  is("content", [text(got[0].key), text(got[0].value), text(got[1].value)], ["k1", "ü€😀", "a string"]);
  is("nothing", [got[1].key, text(got[2].key), got[2].value], [undefined, "k3", undefined]);
  is("headers", Object.entries(got[0].headers).map(([name, value]) => [name, text(value)]), [["a", "b"], ["n", "1"]]);
  is("time", got[0].time, "2024-05-06T07:08:09Z");
  is("high water mark", got[0].highWaterMark, 3);
  const again = new Reader({ brokers, topic: "words", maxWait: "5s", offset: 1 });
  is("from an offset", text(again.consume({ limit: 1 })[0].value), "a string");
  again.close();
  const precise = new Reader({ brokers, topic: "words", maxWait: "5s" });
  is("milliseconds", precise.consume({ nanoPrecision: true })[0].time, "2024-05-06T07:08:09.123Z");
  const last = new Reader({ brokers, topic: "words", offset: -1, maxWait: "300ms" });
  is("nothing new", last.consume({ limit: 1, expectTimeout: true }), []);
  writer.produce({ messages: [{ value: "new" }] });
  is("what is new", text(last.consume({ limit: 1 })[0].value), "new");
  throws("too few", () => last.consume({ limit: 2 }), "unable to read message: found 0 of 2 within 300 ms: raise maxWait");
  const none = new Writer({ brokers, topic: "words" });
  none.produce({ messages: [{ value: "unanswered" }] });
  is("without acknowledgement", text(last.consume({ limit: 1 })[0].value), "unanswered");
  const large = "x".repeat(900000);
  for (const value of [large, large, "end"]) writer.produce({ messages: [{ value }] });
  is("large ones", last.consume({ limit: 3 }).map((message) => message.value.length), [900000, 900000, 3]);
}

function registries() {
  const json = { a: [1, "ü", null], b: {} };
  const packed = registry.serialize({ data: json, schemaType: SCHEMA_TYPE_JSON });
  is("JSON", [packed instanceof Uint8Array, registry.deserialize({ data: packed, schemaType: SCHEMA_TYPE_JSON })], [true, json]);
  const raw = registry.serialize({ data: [1, 2, 255], schemaType: SCHEMA_TYPE_BYTES });
  is("bytes", Array.from(registry.deserialize({ data: raw, schemaType: SCHEMA_TYPE_BYTES })), [1, 2, 255]);
  const subject = { topic: "t", element: kafka.VALUE, subjectNameStrategy: kafka.TOPIC_NAME_STRATEGY };
  is("a subject", registry.getSubjectName(subject), "t-value");
  const schema = JSON.stringify({ type: "record", name: "N", namespace: "a.b", fields: [] });
  const ofRecord = { ...subject, schema, element: kafka.KEY, subjectNameStrategy: kafka.TOPIC_RECORD_NAME_STRATEGY };
  is("a record's subject", registry.getSubjectName(ofRecord), "t-a.b.N");
}

function topics() {
  const configEntries = [{ configName: "compression.type", configValue: kafka.CODEC_SNAPPY }];
  connection.createTopic({ topic: "short-lived", numPartitions: 3, replicationFactor: 1, configEntries });
  connection.createTopic({ topic: "short-lived" });
  is("made", connection.listTopics().includes("short-lived"), true);
  connection.deleteTopic("short-lived");
  is("deleted", connection.listTopics().includes("short-lived"), false);
  throws("deleted twice", () => connection.deleteTopic("short-lived"), 'deleteTopic: topic "short-lived": ');
  const creating = new Writer({ brokers, topic: "made-by-writing", autoCreateTopic: true, requiredAcks: 1 });
  creating.produce({ messages: [{ value: "x" }] });
  is("made by writing", connection.listTopics().includes("made-by-writing"), true);
}

// Through franz-go's client, which reads what we have packed and packs what we read.
function codecs() {
  const echo = new Reader({ brokers, topic: "echo", maxWait: "10s" });
  for (const codec of ["none", kafka.CODEC_GZIP, kafka.CODEC_SNAPPY, kafka.CODEC_LZ4, kafka.CODEC_ZSTD]) {
    const there = new Writer({ brokers, topic: "to-go", compression: codec, requiredAcks: 1 });
    const list = Array.from({ length: 50 }, (_, n) => ({ key: `${n}`, value: codec.repeat(50), headers: { codec } }));
    there.produce({ messages: list });
    const back = echo.consume({ limit: 50 }).map((message) => `${text(message.key)} ${text(message.value)}`);
    is(`packed with ${codec}`, back.sort(), list.map(({ key, value }) => `${key} ${value}`).sort());
    there.close();
  }
  echo.close();
}

function balancers() {
  connection.createTopic({ topic: "spread", numPartitions: 3 });
  const put = (balancer, keys) => {
    const readers = [0, 1, 2].map((partition) => {
      return new Reader({ brokers, topic: "spread", partition, offset: -1, maxWait: "1s" });
    });
    for (const one of readers) one.consume({ expectTimeout: true, limit: 0 });
    const spreading = new Writer({ brokers, topic: "spread", balancer, requiredAcks: 1 });
    spreading.produce({ messages: keys.map((key) => ({ key, value: "v" })) });
    return readers.map((one) => one.consume({ limit: keys.length, expectTimeout: true }).map((got) => text(got.key)).sort());
  };
  const keys = ["21", "foobar", "abc"];
  is("round robin", put(kafka.BALANCER_ROUND_ROBIN, keys), [["21"], ["foobar"], ["abc"]]);
  // By the hashes that Kafka's own client has for these keys: 1173551340, 1357151166, 479470107.
  is("murmur2", put(kafka.BALANCER_MURMUR2, keys), [["21", "abc", "foobar"], [], []]);
  const chosen = new Writer({ brokers, topic: "spread", requiredAcks: 1 });
  throws("no such partition", () => chosen.produce({ messages: [{ value: "x", partition: 7 }] }), "has no partition 7: it has 3");
}

function groups() {
  connection.createTopic({ topic: "shared", numPartitions: 4 });
  const feeding = new Writer({ brokers, topic: "shared", requiredAcks: 1 });
  const numbers = Array.from({ length: 1000 }, (_, n) => `${n}`);
  feeding.produce({ messages: numbers.map((value) => ({ value })) });
  const group = { brokers, groupID: "g", groupTopics: ["shared"], maxWait: "10s", heartbeatInterval: 2e8, sessionTimeout: "6s" };
  const first = new Reader(group);
  const values = (one, limit) => one.consume({ limit }).map((message) => text(message.value));
  const got = values(first, 600);
  first.close();
  const second = new Reader(group);
  got.push(...values(second, 400));
  is("each once, by two after another", new Set(got).size, 1000);
  // It stays a member while the script sleeps, longer than its session.
  sleep(7);
  feeding.produce({ messages: [{ value: "later" }] });
  is("after a sleep", values(second, 1), ["later"]);
  second.close();
  const third = new Reader({ ...group, maxWait: "300ms", groupBalancers: [kafka.GROUP_BALANCER_ROUND_ROBIN] });
  is("nothing is left", third.consume({ limit: 1, expectTimeout: true }), []);
  third.close();
  const latest = new Reader({ ...group, groupID: "h", maxWait: "300ms", startOffset: kafka.START_OFFSETS_LAST_OFFSET });
  is("from the end", latest.consume({ limit: 1, expectTimeout: true }), []);
  latest.close();
}

function logins() {
  const tls = { enableTls: true, serverCaPem: at.authority, minVersion: kafka.TLS_1_2 };
  is("TLS", new Connection({ brokers: at.tls, tls }).listTopics(), []);
  const trusting = { enableTls: true, insecureSkipTlsVerify: true };
  is("any certificate", new Connection({ brokers: at.tls, tls: trusting }).listTopics(), []);
  throws("an unknown authority", () => new Connection({ brokers: at.tls, tls: { enableTls: true } }).listTopics(), "certificate");
  const as = (algorithm, username, password) => {
    return new Connection({ address: at.sasl[0], sasl: { algorithm, username, password } }).listTopics();
  };
  is("PLAIN", as(kafka.SASL_PLAIN, "ann", "one"), []);
  is("SCRAM-SHA-256", as(kafka.SASL_SCRAM_SHA256, "bob", "two"), []);
  is("SCRAM-SHA-512", as(kafka.SASL_SCRAM_SHA512, "cid", "three"), []);
  throws("a wrong password", () => as(kafka.SASL_PLAIN, "ann", "two"), "SASL PLAIN: ");
  throws("a wrong proof", () => as(kafka.SASL_SCRAM_SHA256, "bob", "one"), "SASL SCRAM-SHA-256: ");
  throws("no login", () => new Connection({ address: at.sasl[0] }).listTopics(), `broker ${at.sasl[0]}: `);
}

function refusals() {
  throws("no options", () => new Writer(), "new Writer: expected an object of options");
  throws("no brokers", () => new Reader({ topic: "x" }), "brokers: found none, expected addresses like");
  throws("an address", () => new Writer({ brokers: ["a:b"] }), 'brokers: found "a:b", expected host:port');
  throws("no topic", () => new Reader({ brokers }), "topic: expected a name, or groupTopics with a groupID");
  throws("a codec", () => new Writer({ brokers, compression: "br" }), 'compression: found "br", expected none, gzip');
  throws("a balancer", () => new Writer({ brokers, balancer: "x" }), "balancer: found \"x\", expected balancer_roundrobin");
  throws("acknowledgements", () => new Writer({ brokers, requiredAcks: 2 }), "requiredAcks: found 2, expected -1 (all)");
  throws("both", () => new Reader({ brokers, topic: "x", groupID: "g", partition: 1 }), "exclude each other");
  throws("a time", () => new Reader({ brokers, topic: "x", maxWait: "soon" }), "expected nanoseconds or a text");
  throws("a mechanism", () => new Writer({ brokers, sasl: { algorithm: kafka.SASL_AWS_IAM } }), "sasl_aws_iam is not supported yet");
  throws("nobody there", () => new Connection({ address: "127.0.0.1:1" }).listTopics(), "connection refused");
  const strict = new Writer({ brokers, topic: "nowhere", requiredAcks: 1, maxAttempts: 1 });
  throws("an unknown topic", () => strict.produce({ messages: [{ value: "x" }] }), 'error writing messages: topic "nowhere": ');
  const absent = new Reader({ brokers, topic: "words", partition: 9 });
  throws("no such partition", () => absent.consume({}), "has no partition 9: it has 1");
  throws("a message", () => writer.produce({ messages: [{ value: 5 }] }), "message 0: value: found int, expected bytes or a string");
  throws("two topics", () => writer.produce({ messages: [{ topic: "x", value: "" }] }), "not to both");
  throws("a large one", () => writer.produce({ messages: [{ value: "x".repeat(2e6) }] }), "expected 1048576 at most: raise batchBytes");
  throws("no list", () => writer.produce({}), "expected an object with the array messages");
  throws("Avro", () => registry.serialize({ data: 1, schemaType: kafka.SCHEMA_TYPE_AVRO }), "AVRO is not supported yet");
  throws("a schema", () => registry.getSchema({}), "not supported yet");
  throws("a keystore", () => kafka.LoadJKS({}), "export the certificates with keytool or openssl");
  throws("of nobody", () => Writer.prototype.produce.call({}, {}), "must be called on a Writer");
}

const group = { brokers, groupID: "fed", groupTopics: ["fed"], maxWait: "500ms", heartbeatInterval: "300ms" };
const feeder = new Writer({ brokers, topic: "fed", requiredAcks: 1 });
const eater = new Reader({ ...group, sessionTimeout: "6s", rebalanceTimeout: "5s" });
if (__VU == 0) connection.createTopic({ topic: "fed", numPartitions: 6 });

export function feed() {
  for (let n = 0; n < 60; n++) {
    feeder.produce({ messages: Array.from({ length: 10 }, (_, i) => ({ value: `${n * 10 + i}` })) });
    sleep(0.1);
  }
}

export function eat() {
  const end = Date.now() + (__ENV.SECONDS ?? 9) * 1000;
  let count = 0;
  while (Date.now() < end) count += eater.consume({ limit: 50, expectTimeout: true }).length;
  is("each has some", count > 0, true);
  eater.close();
}

export function teardown() {
  if (!at.members) connection.deleteTopic("words");
  writer.close();
  reader.close();
  connection.close();
}
