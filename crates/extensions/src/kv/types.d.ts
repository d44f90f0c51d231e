/**
 * Values by key that all users of a test share, as in the extension xk6-kv. They are kept in memory and end with the run.
 *
 * ```js
 * import { openKv } from "k6/x/kv";
 *
 * const kv = openKv();
 *
 * export async function setup() {
 *   await kv.set("tokens", ["a", "b"]);
 * }
 *
 * export default async function () {
 *   console.log(await kv.get("tokens"));
 * }
 * ```
 */

/**
 * The store of the test: one, however often it is opened.
 *
 * @param options `backend` is `"memory"`, which it is anyway
 * @throws GoError outside the init code, and for the backend `"disk"`
 */
export function openKv(options?: { backend?: "memory" }): KV;

/** The store. */
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
  list(options?: { prefix?: string; limit?: number }): Promise<{ key: string; value: any }[]>;
  clear(): Promise<true>;
  /** How many there are. */
  size(): Promise<number>;
}

declare const kv: { openKv: typeof openKv };
export default kv;
