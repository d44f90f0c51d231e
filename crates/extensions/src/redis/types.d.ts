/**
 * Redis: a `Client` whose methods send commands and give promises, as in k6's extension of that name.
 *
 * A command has a connection of its own while it runs, up to `poolSize` at once, so one that blocks holds up no other.
 * Connections follow the test's rules for names, addresses and links, and their bytes count as `data_sent` and
 * `data_received`. There is no metric of commands: time them with a `Trend` of your own.
 *
 * A promise is rejected with an object whose `error()` and `String(…)` are the server's words; where there is no value,
 * they are `redis: nil`. In the init code every command is rejected.
 *
 * Values that are stored are strings, numbers and booleans (1 and 0); anything else is rejected. Differs from k6:
 * a connection that fails is told at once, where k6 tries a command three times and dials five times for each.
 *
 * ```js
 * import redis from "k6/x/redis";
 *
 * const client = new redis.Client("redis://127.0.0.1:6379");
 *
 * export default async function () {
 *   await client.set("visits", 0);
 *   await client.incr("visits");
 * }
 * ```
 */

/** What is stored. */
export type Stored = string | number | boolean;

/** Where a server is. Times are in milliseconds. */
export interface SocketOptions {
  /** A name, an address, or the path of a unix socket. */
  host: string;
  /** @default 6379 */
  port?: number;
  /** TLS, with certificates in PEM. */
  tls?: { ca?: string[]; cert?: string; key?: string };
  /** For a connection. @default 5000 */
  dialTimeout?: number;
  /** For a command. @default 3000 */
  readTimeout?: number;
  /** Belongs to `readTimeout`; without effect. */
  writeTimeout?: number;
  /** Connections at once. @default 20 */
  poolSize?: number;
  /** For a free connection. @default readTimeout + 1000 */
  poolTimeout?: number;
  /** Without effect: connections are made when they are needed. */
  minIdleConns?: number;
  /** Without effect: a connection lasts as long as the server keeps it. */
  maxConnAge?: number;
  /** Without effect, as above. */
  idleTimeout?: number;
}

/** A server, or with `masterName` a sentinel that knows it. */
export interface Options {
  /** The server, or the sentinel. */
  socket?: SocketOptions;
  /** User of the server. */
  username?: string;
  /** Its password. */
  password?: string;
  /** The connection's name in the server's lists. */
  clientName?: string;
  /** The database's number. @default 0 */
  database?: number;
  /** The master that the sentinel is asked for. */
  masterName?: string;
  /** User of the sentinel. */
  sentinelUsername?: string;
  /** Its password. */
  sentinelPassword?: string;
  /** A cluster instead of `socket`. */
  cluster?: {
    /** Servers that know the others: URLs, or options with a `socket` each. */
    nodes: string[] | Options[];
    /** How often a command follows a key that has moved. @default 3 */
    maxRedirects?: number;
    /** Replicas may answer. */
    readOnly?: boolean;
    /** Replicas may answer; which one is left to chance. */
    routeByLatency?: boolean;
    /** Replicas may answer; which one is left to chance. */
    routeRandomly?: boolean;
  };
}

/** A client of one server, a cluster, or a master that a sentinel names. */
export class Client {
  /**
   * @param options `redis[s]://[[user][:password]@][host][:port][/database]`, or an object. Nothing is connected yet.
   * @throws GoError for a URL or an object that is none
   */
  constructor(options: string | Options);

  /** Whether it was asked for anything yet. */
  isConnected(): boolean;
  /** Any command, by its words. */
  sendCommand(command: string, ...args: Stored[]): Promise<any>;

  /** @param expiration in seconds; none or 0 for never */
  set(key: string, value: Stored, expiration?: number): Promise<"OK">;
  get(key: string): Promise<string>;
  getSet(key: string, value: Stored): Promise<string>;
  /** How many there were. */
  del(...keys: string[]): Promise<number>;
  getDel(key: string): Promise<string>;
  exists(...keys: string[]): Promise<number>;
  incr(key: string): Promise<number>;
  incrBy(key: string, increment: number): Promise<number>;
  decr(key: string): Promise<number>;
  decrBy(key: string, decrement: number): Promise<number>;
  randomKey(): Promise<string>;
  /** With null for each that is missing. */
  mget(...keys: string[]): Promise<(string | null)[]>;
  /** @returns whether the key is there */
  expire(key: string, seconds: number): Promise<boolean>;
  /** Seconds left; -1e-9 for a key that stays and -2e-9 for none, as in k6. */
  ttl(key: string): Promise<number>;
  persist(key: string): Promise<boolean>;

  /** @returns the length of the list */
  lpush(key: string, ...values: Stored[]): Promise<number>;
  rpush(key: string, ...values: Stored[]): Promise<number>;
  lpop(key: string): Promise<string>;
  rpop(key: string): Promise<string>;
  /** @param stop the last one; -1 is the end of the list */
  lrange(key: string, start: number, stop: number): Promise<string[]>;
  lindex(key: string, index: number): Promise<string>;
  lset(key: string, index: number, element: string): Promise<"OK">;
  /** @param count how many from the head; negative: from the tail; 0: all */
  lrem(key: string, count: number, value: string): Promise<number>;
  llen(key: string): Promise<number>;

  /** @returns 1 for a new field, else 0 */
  hset(key: string, field: string, value: Stored): Promise<number>;
  hsetnx(key: string, field: string, value: string): Promise<boolean>;
  hget(key: string, field: string): Promise<string>;
  hdel(key: string, ...fields: string[]): Promise<number>;
  hgetall(key: string): Promise<{ [field: string]: string }>;
  hkeys(key: string): Promise<string[]>;
  hvals(key: string): Promise<string[]>;
  hlen(key: string): Promise<number>;
  hincrby(key: string, field: string, increment: number): Promise<number>;

  sadd(key: string, ...members: Stored[]): Promise<number>;
  srem(key: string, ...members: Stored[]): Promise<number>;
  sismember(key: string, member: Stored): Promise<boolean>;
  smembers(key: string): Promise<string[]>;
  srandmember(key: string): Promise<string>;
  spop(key: string): Promise<string>;
}

declare const redis: { Client: typeof Client };
export default redis;
