/**
 * Rows of test data that are given once: to one iteration of one user, over all users, workers and agents of a test.
 *
 * ```js
 * import { SharedArray } from 'k6/data';
 * import { uniqueRows } from 'onrush/data';
 *
 * const people = uniqueRows('people', new SharedArray('people', () => JSON.parse(open('people.json'))));
 *
 * export default function () {
 *   const person = people.take();
 *   if (!person) return;
 *   // register …
 * }
 * ```
 *
 * k6 does the same with `exec.scenario.iterationInTest` as an index, for one row an iteration of one scenario. Here a user
 * takes as many as it needs, from any scenario.
 */

/** Rows that are given once. */
export interface UniqueRows<T> {
  /**
   * The next row that no user has had; undefined when there is none left in this process.
   *
   * Each agent of a [fleet](../../guides/fleet.md), and each `--execution-segment`, has its own part of the rows: every
   * n-th of n agents. No agent asks another one, so one that is faster ends with its part while others still have rows.
   * Rows of an agent that has no users are not given.
   *
   * @throws TypeError in init code, `setup()` and `teardown()`, which do not run on an agent.
   */
  take(): T | undefined;
  /** How many rows of this process are left. */
  left(): number;
}

/**
 * The rows of an array, by a name that all users share: each user calls it in init code with the same array. Rows begin at
 * the first in each test, and are not given again.
 *
 * @throws TypeError without a name or an array; RangeError when another array has the name, with another number of rows.
 */
export function uniqueRows<T>(name: string, array: ReadonlyArray<T>): UniqueRows<T>;
