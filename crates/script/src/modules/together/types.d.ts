/**
 * Virtual users that begin together: what comes before (logging in, opening connections, filling caches) is not part of what is
 * measured, and no user is ahead of the others.
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
  /** When it was planned for, in milliseconds since 1970, the same for all; the promise resolves at that instant. */
  at: number;
  /** Users that had come. */
  users: number;
  /** Users that had not come in time. They start when they come; a warning says so. */
  missing: number;
}

/** Options of `ready`. The first user's word counts. */
export interface ReadyOptions {
  /** Which meeting, where a scenario has several. */
  name?: string;
  /** How many users are to come: those of the scenario, where its executor has a fixed number of them. */
  users?: number;
  /** How long the first user waits for the others: one minute. Milliseconds, or a time as in `'30s'`. */
  timeout?: number | string;
  /** From when all have come to the start: 100 ms. */
  lead?: number | string;
  /** From the start to the end that `remaining` counts down to. */
  duration?: number | string;
}

/**
 * Waits until all users of the scenario have called it, and resolves for all of them at one instant. A user that calls it again
 * gets the same start, which has passed.
 *
 * @throws TypeError in init code, setup and teardown, and where the number of users is not fixed and not given; RangeError for
 *   numbers and times that are none.
 */
export function ready(options?: ReadyOptions): Promise<Start>;

/**
 * Milliseconds to the end: the start and its `duration`; without those the end of the scenario; 0 afterwards.
 *
 * @throws TypeError in init code, setup and teardown.
 */
export function remaining(options?: { name?: string }): number;
