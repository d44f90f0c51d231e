/**
 * Kafka: writers, readers and topics, as in k6's extension of that name (its version 1).
 *
 * Make writers, readers and connections in init code. Each user has connections of its own, which last over its iterations; they
 * follow the test's rules for names, addresses and links, and their bytes count as `data_sent` and `data_received`. A call waits for
 * the brokers; what fails throws. In init code only `Connection` speaks to brokers.
 *
 * Metrics have the names of k6's extension: `kafka_writer_*` and `kafka_reader_*`, with the tag `topic`. Those that end in `_seconds`
 * are times in milliseconds, as all times are. `kafka_writer_write_count` counts batches.
 *
 * Differs from k6: the messages of one `produce` go as one batch for each partition unless `batchSize` says otherwise; a message goes
 * to the `partition` that it names; the default balancer is round robin; a reader joins its group at its first `consume`; unknown
 * options are named in a warning. Not supported yet: Avro, Protobuf, JSON Schema and the schema registry, keystores of Java, logins by
 * AWS, and the classes of version 2.
 *
 * ```js
 * import { Writer, Reader, Connection, SchemaRegistry, SCHEMA_TYPE_STRING } from "k6/x/kafka";
 *
 * const brokers = ["127.0.0.1:9092"];
 * const writer = new Writer({ brokers, topic: "words", requiredAcks: -1 });
 * const reader = new Reader({ brokers, topic: "words", maxWait: "5s" });
 * const connection = new Connection({ address: brokers[0] });
 * const registry = new SchemaRegistry();
 *
 * if (__VU == 0) connection.createTopic({ topic: "words" });
 *
 * export default function () {
 *   const value = registry.serialize({ data: "hello", schemaType: SCHEMA_TYPE_STRING });
 *   writer.produce({ messages: [{ key: "1", value, headers: { language: "en" } }] });
 *   for (const message of reader.consume({ limit: 1 })) {
 *     console.log(message.offset, registry.deserialize({ data: message.value, schemaType: SCHEMA_TYPE_STRING }));
 *   }
 * }
 *
 * export function teardown() {
 *   writer.close();
 *   reader.close();
 *   connection.close();
 * }
 * ```
 */

/** Nanoseconds, or a text like `"2s"`. */
export type Time = number | string;

/** What a message carries. */
export type Content = string | ArrayBuffer | ArrayBufferView;

/** How to log in. */
export interface SASLConfig {
  /** The user of the broker. */
  username?: string;
  /** Its password. */
  password?: string;
  /** One of `NONE`, `SASL_PLAIN`, `SASL_SCRAM_SHA256`, `SASL_SCRAM_SHA512`, `SASL_SSL`. @default NONE */
  algorithm?: string;
}

/** TLS. Certificates and keys are PEM, or files of it: absolute, or relative to the folder that Onrush was started in. */
export interface TLSConfig {
  /** Without it the rest has no effect. @default false */
  enableTls?: boolean;
  /** Accept any certificate. @default false */
  insecureSkipTlsVerify?: boolean;
  /** One of `TLS_1_0` to `TLS_1_3`. */
  minVersion?: string;
  /** The client's certificate. */
  clientCertPem?: string;
  /** Its key. */
  clientKeyPem?: string;
  /** Whom to trust beside the machine's authorities. */
  serverCaPem?: string;
}

/** Options of a writer. */
export interface WriterConfig {
  /** Addresses, tried in their order until one tells of the others. */
  brokers: string[];
  /** Where messages go; without it each message has its own. */
  topic?: string;
  /** Whether the brokers make a topic that is not there. @default false */
  autoCreateTopic?: boolean;
  /** One of `BALANCER_…`. @default BALANCER_ROUND_ROBIN */
  balancer?: string;
  /** Attempts at what may pass, such as an election. @default 10 */
  maxAttempts?: number;
  /** Messages of a batch at most. @default no limit */
  batchSize?: number;
  /** Bytes of keys and values in a batch at most; a larger message is refused. @default 1048576 */
  batchBytes?: number;
  /** Without effect: a batch goes at once. */
  batchTimeout?: Time;
  /** For a response. @default 10 s */
  readTimeout?: Time;
  /** Added to it. */
  writeTimeout?: Time;
  /** Who has to have a message before `produce` returns: 0 nobody, 1 the leader, -1 all copies. @default 0 */
  requiredAcks?: number;
  /** One of `CODEC_…`. @default none */
  compression?: string;
  /** Logging in. */
  sasl?: SASLConfig;
  /** TLS. */
  tls?: TLSConfig;
  /** Without effect. */
  connectLogger?: boolean;
}

/** A message to be sent. */
export interface Message {
  /** Where the writer has none. */
  topic?: string;
  /** @default what the balancer chooses */
  partition?: number;
  /** By which most balancers choose. */
  key?: Content;
  /** Without it the message deletes its key from a compacted topic. */
  value?: Content | null;
  /** By their names. */
  headers?: Record<string, Content | number | boolean>;
  /** A Date, or milliseconds since 1970. @default now */
  time?: Date | number;
  /** Without effect. */
  offset?: number;
}

/** A message that was read. */
export interface ReceivedMessage {
  topic: string;
  partition: number;
  offset: number;
  /** Where the next message of the partition begins, as far as is known. */
  highWaterMark: number;
  /** RFC 3339, in seconds; with `nanoPrecision` in milliseconds, which is what Kafka has. */
  time: string;
  /** Not there where the message has none. */
  key?: Uint8Array;
  /** Not there where the message has none. */
  value?: Uint8Array;
  /** By their names. */
  headers: Record<string, Uint8Array>;
}

/** Options of a reader. */
export interface ReaderConfig {
  /** Addresses, tried in their order until one tells of the others. */
  brokers: string[];
  /** What is read. */
  topic?: string;
  /** Of the topic, without a group. @default 0 */
  partition?: number;
  /** Where to begin without a group; -2: at the first message, -1: at what comes next. @default 0 */
  offset?: number;
  /** The group whose members share all partitions. */
  groupID?: string;
  /** The same. */
  groupId?: string;
  /** What a group reads, when it is more than `topic`. */
  groupTopics?: string[];
  /** `GROUP_BALANCER_RANGE` and `GROUP_BALANCER_ROUND_ROBIN`, the preferred one first. @default both */
  groupBalancers?: string[];
  /** Where a group begins that has no history. @default START_OFFSETS_FIRST_OFFSET */
  startOffset?: string;
  /** How long `consume` waits for the next message. @default 200 ms */
  maxWait?: Time;
  /** What a broker collects before it answers. @default 1 */
  minBytes?: number;
  /** What it sends at once. @default 1000000 */
  maxBytes?: number;
  /** Between heartbeats to the group. @default 3 s */
  heartbeatInterval?: Time;
  /** Without a heartbeat for so long a member is out. @default 30 s */
  sessionTimeout?: Time;
  /** For joining, while others do. @default 30 s */
  rebalanceTimeout?: Time;
  /** Between reports to the group of what was consumed; 0: after each `consume`. @default 0 */
  commitInterval?: Time;
  /** One of `ISOLATION_LEVEL_…`. @default ISOLATION_LEVEL_READ_UNCOMMITTED */
  isolationLevel?: string;
  /** Logging in. */
  sasl?: SASLConfig;
  /** TLS. */
  tls?: TLSConfig;
  /** A metric alone. */
  queueCapacity?: number;
  /** Without effect, as are the rest. */
  readBatchTimeout?: Time;
  readLagInterval?: Time;
  partitionWatchInterval?: Time;
  watchPartitionChanges?: boolean;
  joinGroupBackoff?: Time;
  retentionTime?: Time;
  readBackoffMin?: Time;
  readBackoffMax?: Time;
  connectLogger?: boolean;
  maxAttempts?: number;
}

/** Options of `consume`. */
export interface ConsumeConfig {
  /** Messages to wait for. @default 1 */
  limit?: number;
  /** The same. */
  maxMessages?: number;
  /** Times in milliseconds instead of seconds. @default false */
  nanoPrecision?: boolean;
  /** Give what there is when the next message does not come in time, instead of throwing. @default false */
  expectTimeout?: boolean;
}

/** Options of a connection. */
export interface ConnectionConfig {
  /** A broker. */
  address?: string;
  /** More of them. */
  brokers?: string[];
  /** Logging in. */
  sasl?: SASLConfig;
  /** TLS. */
  tls?: TLSConfig;
}

/** A topic to be made. */
export interface TopicConfig {
  topic: string;
  /** @default 1 */
  numPartitions?: number;
  /** @default 1 */
  replicationFactor?: number;
  /** The brokers of each partition, instead of both numbers. */
  replicaAssignments?: { partition: number; replicas: number[] }[];
  /** Settings of the topic. */
  configEntries?: { configName: string; configValue: string }[];
}

/** Data and what it is. */
export interface Container {
  /** A value, or bytes of one. */
  data: any;
  /** `SCHEMA_TYPE_STRING`, `SCHEMA_TYPE_BYTES` or `SCHEMA_TYPE_JSON`. */
  schemaType: string;
}

/** What a schema's name is made of. */
export interface SubjectNameConfig {
  /** The schema as JSON, for names by its record. */
  schema?: string;
  topic?: string;
  /** `KEY` or `VALUE`. */
  element: string;
  /** One of the constants. @default TOPIC_NAME_STRATEGY */
  subjectNameStrategy?: string;
}

/** Sends messages. */
export class Writer {
  /** Connects nothing yet. */
  constructor(config: WriterConfig);
  /** Sends messages, and waits for their acknowledgements. Throws `error writing messages: …`. */
  produce(config: { messages: Message[] }): void;
  /** Closes its connections; the next `produce` opens others. */
  close(): void;
}

/** Reads messages: of a partition, or as a member of a group. */
export class Reader {
  /** Connects nothing yet. */
  constructor(config: ReaderConfig);
  /**
   * Waits for messages. Throws `unable to read message: …`, also when the next does not come within `maxWait`. What was given counts
   * as consumed: the group hears of it before this returns.
   */
  consume(config?: ConsumeConfig): ReceivedMessage[];
  /** Leaves the group and closes its connections. */
  close(): void;
}

/** Makes, lists and deletes topics; in init code, too. */
export class Connection {
  /** Connects nothing yet. */
  constructor(config: ConnectionConfig);
  /** Makes a topic, if it is not there. */
  createTopic(config: TopicConfig): void;
  /** Deletes a topic. */
  deleteTopic(topic: string): void;
  /** The names of all topics, in order. */
  listTopics(): string[];
  /** Closes its connections. */
  close(): void;
}

/** From values to bytes and back. It speaks to no registry yet. */
export class SchemaRegistry {
  /** The configuration has no effect yet. */
  constructor(config?: object);
  /** A string, bytes (or an array of numbers), or a value as JSON. */
  serialize(container: Container): Uint8Array;
  /** The string, the bytes, or the value. */
  deserialize(container: Container): any;
  /** The name that a registry has a schema under. */
  getSubjectName(config: SubjectNameConfig): string;
  /** Throws: not supported yet. */
  getSchema(schema: object): never;
  /** Throws: not supported yet. */
  createSchema(schema: object): never;
}

/** Throws: keystores of Java are not supported yet. Export the certificates as PEM. */
export function LoadJKS(config: object): never;

/** Compression of batches. */
export const CODEC_GZIP = "gzip";
/** Compression of batches. */
export const CODEC_SNAPPY = "snappy";
/** Compression of batches. */
export const CODEC_LZ4 = "lz4";
/** Compression of batches. */
export const CODEC_ZSTD = "zstd";
/** No login. */
export const NONE = "none";
/** The password itself: use it over TLS. */
export const SASL_PLAIN = "sasl_plain";
/** How to log in. */
export const SASL_SCRAM_SHA256 = "sasl_scram_sha256";
/** How to log in. */
export const SASL_SCRAM_SHA512 = "sasl_scram_sha512";
/** The client's certificate says who it is: needs `tls`. */
export const SASL_SSL = "sasl_ssl";
/** Refused: not supported yet. */
export const SASL_AWS_IAM = "sasl_aws_iam";
/** Begins at 1.2: older versions are not spoken. */
export const TLS_1_0 = "tlsv1.0";
/** Begins at 1.2: older versions are not spoken. */
export const TLS_1_1 = "tlsv1.1";
/** The lowest version of TLS. */
export const TLS_1_2 = "tlsv1.2";
/** The lowest version of TLS. */
export const TLS_1_3 = "tlsv1.3";
/** A schema of keys. */
export const KEY = "key";
/** A schema of values. */
export const VALUE = "value";
/** All messages. */
export const ISOLATION_LEVEL_READ_UNCOMMITTED = "isolation_level_read_uncommitted";
/** Without messages of transactions that were given up. */
export const ISOLATION_LEVEL_READ_COMMITTED = "isolation_level_read_committed";
/** At what comes next. */
export const START_OFFSETS_LAST_OFFSET = "start_offsets_last_offset";
/** At the first message there is. */
export const START_OFFSETS_FIRST_OFFSET = "start_offsets_first_offset";
/** The same as `START_OFFSETS_LAST_OFFSET`. */
export const LAST_OFFSET = "start_offsets_last_offset";
/** The same as `START_OFFSETS_FIRST_OFFSET`. */
export const FIRST_OFFSET = "start_offsets_first_offset";
/** A schema is named by the topic: `topic-value`. */
export const TOPIC_NAME_STRATEGY = "TopicNameStrategy";
/** By its record: `namespace.name`. */
export const RECORD_NAME_STRATEGY = "RecordNameStrategy";
/** By both. */
export const TOPIC_RECORD_NAME_STRATEGY = "TopicRecordNameStrategy";
/** One partition after the other. */
export const BALANCER_ROUND_ROBIN = "balancer_roundrobin";
/** The partition that has got the fewest bytes. */
export const BALANCER_LEAST_BYTES = "balancer_leastbytes";
/** By the key, as kafka-go does. */
export const BALANCER_HASH = "balancer_hash";
/** By the key, as librdkafka does. */
export const BALANCER_CRC32 = "balancer_crc32";
/** By the key, as Java's client does. */
export const BALANCER_MURMUR2 = "balancer_murmur2";
/** How members share partitions. */
export const GROUP_BALANCER_RANGE = "group_balancer_range";
/** How members share partitions. */
export const GROUP_BALANCER_ROUND_ROBIN = "group_balancer_round_robin";
/** Refused: not supported yet. */
export const GROUP_BALANCER_RACK_AFFINITY = "group_balancer_rack_affinity";
/** A text, in UTF-8. */
export const SCHEMA_TYPE_STRING = "STRING";
/** The bytes themselves. */
export const SCHEMA_TYPE_BYTES = "BYTES";
/** Refused: not supported yet. */
export const SCHEMA_TYPE_AVRO = "AVRO";
/** JSON. */
export const SCHEMA_TYPE_JSON = "JSON";
/** Refused: not supported yet. */
export const SCHEMA_TYPE_PROTOBUF = "PROTOBUF";
/** In nanoseconds. */
export const NANOSECOND = 1;
/** In nanoseconds. */
export const MICROSECOND = 1000;
/** In nanoseconds. */
export const MILLISECOND = 1000000;
/** In nanoseconds. */
export const SECOND = 1000000000;
/** In nanoseconds. */
export const MINUTE = 60000000000;
/** In nanoseconds. */
export const HOUR = 3600000000000;
