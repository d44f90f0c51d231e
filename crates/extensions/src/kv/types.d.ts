/**
 * Values by key that all users of a test share, as in the extension xk6-kv: in memory, where they end with the run, or
 * in a file. Each call is atomic among all users.
 *
 * ```js
 * import { openKv } from "k6/x/kv";
 *
 * const kv = openKv();
 *
 * export async function setup() {
 *   await kv.set("free:alice", { password: "a" });
 *   await kv.set("free:bob", { password: "b" });
 * }
 *
 * export default async function () {
 *   const user = await kv.popRandom({ prefix: "free:" });
 *   await kv.incrementBy("logins", 1);
 *   if (user) await kv.set(user.key, user.value);
 * }
 * ```
 *
 * A promise that fails is rejected with an `Error` whose `name` says what happened. There is no limit for the store of
 * its own: what it holds is memory of the process beside that of the users.
 *
 * Beside the methods of xk6-kv it has those that its fork by oshokin adds: atomic changes, pages and random keys. What
 * the fork has beyond them (claims, imports, exports, snapshots, metrics) and `atomic()` of xk6-kv are not supported.
 */

/** What `openKv` is given. */
export interface OpenKvOptions {
  /**
   * `"disk"` keeps values in a file that lasts longer than the run. A change is on the disk when its promise is kept, so
   * it takes as long as the disk needs for that, often some milliseconds. @default "memory"
   */
  backend?: "memory" | "disk";
  /**
   * The file, from the working directory. It is made if it is not there, belongs to one process at a time, and is not
   * in the format of xk6-kv. @default "./.k6.kv"
   */
  path?: string;
  /** `"string"` keeps `String(value)`, `"json"` what JSON has of a value. @default "json" */
  serialization?: "json" | "string";
  /** Without effect: keys are in order anyway. `randomKey` steps over them, 100,000 in about a millisecond. */
  trackKeys?: boolean;
}

/**
 * A handle of the store: one store in memory, and one for each path, however often it is opened.
 *
 * @throws GoError outside the init code, and for an unknown backend or serialization
 * @throws DiskStoreOpenError when the file cannot be opened, is no store, or another process has it
 * @throws KVOptionsConflictError when the store is open with another serialization
 */
export function openKv(options?: OpenKvOptions): KV;

/** A key and its value. */
export interface Entry {
  key: string;
  value: any;
}

/** The store. Its promises fail with `DiskStoreReadError` and `DiskStoreWriteError` when the file does. */
export interface KV {
  /**
   * Keeps a copy, as JSON has it.
   *
   * @throws TypeError for what JSON cannot hold: undefined, a function
   */
  set<T>(key: string, value: T): Promise<T>;
  /** Rejected with an error called `KeyNotFoundError` where there is none. */
  get(key: string): Promise<any>;
  /** Also true for a key that is not there. */
  delete(key: string): Promise<true>;
  exists(key: string): Promise<boolean>;
  /** In the order of the keys; those that begin with `prefix`, at most `limit`. */
  list(options?: { prefix?: string; limit?: number }): Promise<Entry[]>;
  clear(): Promise<true>;
  /** How many there are. */
  size(): Promise<number>;
  /** How many keys begin with `prefix`. */
  count(options?: { prefix?: string }): Promise<number>;

  /**
   * Adds to a number, which is 0 where there is none, and gives the sum. Rejected with `ValueNumberRequiredError` when
   * the delta is no number, and with `ValueParseError` when the value is none.
   */
  incrementBy(key: string, delta: number): Promise<number>;
  /** The value that is there, with `loaded: true`; else it sets this one. */
  getOrSet<T>(key: string, value: T): Promise<{ value: T; loaded: boolean }>;
  /** Sets the value; whether there was none before. */
  setIfAbsent(key: string, value: any): Promise<boolean>;
  /** Sets the value and gives the one before; null with `loaded: false` where there was none. */
  swap(key: string, value: any): Promise<{ previous: any; loaded: boolean }>;
  /**
   * Sets the value if the one that is there is `oldValue`; null and undefined mean that there is none. Values are
   * compared as JSON, objects in any order of their members. Whether it was set.
   */
  compareAndSwap(key: string, oldValue: any, newValue: any): Promise<boolean>;
  /** Whether there was one. */
  deleteIfExists(key: string): Promise<boolean>;
  /** Removes the value if it is `oldValue`, compared as above. Whether it was removed. */
  compareAndDelete(key: string, oldValue: any): Promise<boolean>;

  /**
   * A page of at most `limit` values in the order of the keys. `cursor` is that of the page before, or nothing for the
   * first one. Rejected with `InvalidCursorError` for any other text.
   */
  scan(options?: { prefix?: string; limit?: number; cursor?: string }): Promise<{
    entries: Entry[];
    /** Empty after the last page. */
    cursor: string;
    done: boolean;
  }>;
  /** One of the keys that begin with `prefix`, each as likely; an empty text where there is none. */
  randomKey(options?: { prefix?: string }): Promise<string>;
  /** The same with its value, which nobody else gets: it is removed. Null where there is none. */
  popRandom(options?: { prefix?: string }): Promise<Entry | null>;
  /** Without effect, as `trackKeys`. */
  rebuildKeyList(): Promise<true>;
  /** From now on promises of this handle are rejected with `StoreClosedError`. Handles of other users stay open. */
  close(): void;
}

declare const kv: { openKv: typeof openKv };
export default kv;
