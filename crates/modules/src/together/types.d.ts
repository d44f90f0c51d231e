/**
 * Virtual users that begin together. Preparations (logging in, opening connections, filling caches) are not part of the
 * measurement, and no user is ahead of the others.
 *
 * ```js
 * import { ready, remaining } from 'onrush/together';
 *
 * export const options = { scenarios: { users: { executor: 'per-vu-iterations', vus: 50, maxDuration: '10m' } } };
 *
 * export default async function () {
 *   // log in …
 *   await ready({ duration: '5m' });
 *   while (remaining() > 0) {
 *     // … work
 *   }
 * }
 * ```
 */

/** The start. */
export interface Start {
  /** Planned instant of the start, in milliseconds since 1970, the same for all users. The promise resolves then. */
  at: number;
  /** Users that had arrived. */
  users: number;
  /** Users that had not arrived in time. They start when they arrive; a warning says so. */
  missing: number;
}

/** Options of `ready`. Those of the first user count. */
export interface ReadyOptions {
  /** Name of the start, when a scenario has several. */
  name?: string;
  /** How many users to wait for: those of the scenario, if its executor has a fixed number. */
  users?: number;
  /** How long the first user waits for the others: one minute. Milliseconds, or a time such as `'30s'`. */
  timeout?: number | string;
  /** Time between the last arrival and the start: 100 ms. */
  lead?: number | string;
  /** From the start to the end that `remaining` counts down to. */
  duration?: number | string;
}

/**
 * Waits until all users of the scenario have called it, those of all agents of a fleet included, and resolves for all of them
 * at one instant. A user that calls it again gets the same start, which has passed.
 *
 * @throws TypeError in init code, setup and teardown, and when the number of users is neither fixed nor given; RangeError for
 *   invalid numbers and times.
 */
export function ready(options?: ReadyOptions): Promise<Start>;

/**
 * Milliseconds to the end: the start and its `duration`; without those the end of the scenario; 0 afterwards.
 *
 * @throws TypeError in init code, setup and teardown.
 */
export function remaining(options?: { name?: string }): number;
