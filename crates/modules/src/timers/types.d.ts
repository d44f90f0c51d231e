/**
 * Timers. The same functions are globals, where k6 has them too.
 *
 * An iteration ends when nothing is pending. A timer that is not cleared therefore keeps the iteration open until it has run.
 */

/** Calls `callback` once, `delay` milliseconds from now. */
export function setTimeout(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;

/** Forgets a timer of `setTimeout`. Unknown numbers are ignored. */
export function clearTimeout(id?: number): void;

/** Calls `callback` every `interval` milliseconds until `clearInterval`. */
export function setInterval(callback: (...args: any[]) => void, interval?: number, ...args: any[]): number;

/** Forgets a timer of `setInterval`. Unknown numbers are ignored. */
export function clearInterval(id?: number): void;

declare const timers: {
  setTimeout: typeof setTimeout;
  clearTimeout: typeof clearTimeout;
  setInterval: typeof setInterval;
  clearInterval: typeof clearInterval;
};
export default timers;
