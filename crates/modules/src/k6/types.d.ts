/**
 * The basic functions of a script: check values, group steps, pause, end an iteration.
 */

/** Something to check: a function of the value, or a value that counts as true or false. */
export type Condition<T> = ((value: T) => unknown) | unknown;

/** Tags for samples. */
export type Tags = Record<string, string | number | boolean>;

/**
 * Checks a value and counts the outcome of each entry, without stopping the iteration.
 *
 * Each entry adds one sample to the metric `checks`, tagged with its name and the current group. An entry that throws
 * counts as failed, and `check` throws the error on. Names must not contain `::`. Not available in init code.
 *
 * @returns whether every entry held.
 * @throws when a condition is `async`, because a check cannot wait.
 *
 * @example
 * check(response, {
 *   "status is 200": (r) => r.status === 200,
 *   "is short": (r) => r.body.length < 1000,
 * });
 */
export function check<T>(value: T, conditions: Record<string, Condition<T>>, tags?: Tags): boolean;

/** Ends the iteration with an error; the test goes on. */
export function fail(message?: string): never;

/**
 * Runs a function as a named step: its samples carry the tag `group`, its time goes to the metric `group_duration`.
 * With `--features async-metric-context`, as in k6 2.3, the function may be asynchronous: the step lasts until its promise
 * is settled, and what it does keeps its tags over `await`, in timers and in listeners of sockets and gRPC streams.
 *
 * Groups nest: the tag of an inner one is `::outer::inner`. Names must not contain `::`. Not available in init code.
 *
 * @returns what the function returns.
 * @throws without that feature, when the function is `async`.
 */
export function group<T>(name: string, body: () => T): T;

/** Makes `Math.random` of this virtual user repeat the same sequence. */
export function randomSeed(seed: number): void;

/** Pauses the virtual user for this many seconds, fractions included. Ends early when the test does. */
export function sleep(seconds: number): void;

declare const k6: {
  check: typeof check;
  fail: typeof fail;
  group: typeof group;
  randomSeed: typeof randomSeed;
  sleep: typeof sleep;
};
export default k6;
