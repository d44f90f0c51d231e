/**
 * What a virtual user does next, and when: events drawn by weight, at a rate of their own.
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
 * A function that draws one of the names, each as often as its weight is part of the sum. Draws with `Math.random` of the
 * virtual user: `randomSeed` of `k6` makes the draws the same in every run.
 *
 * @throws TypeError when the argument is no object, RangeError when a weight is no number from 0 on or all are 0.
 */
export function mix<Name extends string>(weights: Record<Name, number>): () => Name;

/** Calls that are planned. */
export interface Every {
  /** No further calls. */
  stop(): void;
}

/** Options of `every`. */
export interface EveryOptions {
  /**
   * How the gaps are spread: `constant` (the default), all the same; `poisson`, exponential with the interval as their mean, as of
   * events that know nothing of each other.
   */
  law?: "constant" | "poisson";
  /** Ends by itself after so many calls. */
  count?: number;
}

/**
 * Calls a function again and again, the first time one interval from now. Unlike `setInterval` it keeps to its plan: a call that
 * is late, because a handler or anything else took long, moves none of those behind it, and none is left out; they follow at once
 * until the plan is caught up with. The iteration goes on until it is stopped.
 *
 * @param interval milliseconds, or a time as in `'500ms'`, `'1.5s'`.
 * @param handler gets how late it is called, in milliseconds.
 * @throws RangeError when interval, law or count are none, TypeError when the handler is no function.
 */
export function every(interval: string | number, handler: (late: number) => void, options?: EveryOptions): Every;
