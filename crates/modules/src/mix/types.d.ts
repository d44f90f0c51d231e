/**
 * What a virtual user does next, and when: events drawn by weight, and calls on schedule.
 *
 * ```js
 * import { mix, every } from 'onrush/mix';
 *
 * const next = mix({ cursor: 40, modify: 30, save: 10, open: 10, list: 7, comment: 2.5, question: 0.5 });
 *
 * export default function () {
 *   every('500ms', () => console.log(next()), { count: 10 });
 * }
 * ```
 */

/**
 * Returns a function that draws one of the names at random. A name with twice the weight is drawn twice as often. It uses
 * `Math.random` of the virtual user, so `randomSeed` of `k6` repeats the same draws in every run.
 *
 * @throws TypeError when the argument is not an object; RangeError when a weight is negative or not a number, or all are 0.
 */
export function mix<Name extends string>(weights: Record<Name, number>): () => Name;

/** A schedule of calls. */
export interface Every {
  /** Ends the schedule. */
  stop(): void;
}

/** Options of `every`. */
export interface EveryOptions {
  /**
   * Distribution of the gaps: `constant` (the default); or `poisson`, exponential with the interval as mean, as of independent
   * events.
   */
  law?: "constant" | "poisson";
  /** Ends after this many calls. */
  count?: number;
}

/**
 * Calls a function on schedule, the first time one interval from now. Unlike `setInterval` it keeps to the schedule: a late call
 * does not move or skip the calls behind it. They follow at once until the schedule is caught up. The iteration goes on until
 * you stop it.
 *
 * @param interval milliseconds, or a time such as `'500ms'`, `'1.5s'`.
 * @param handler gets the lateness of the call in milliseconds.
 * @throws RangeError for an invalid interval, law or count; TypeError when the handler is not a function.
 */
export function every(interval: string | number, handler: (late: number) => void, options?: EveryOptions): Every;
