/**
 * Your own metrics, beside the built-in ones.
 *
 * Metrics are defined in init code and fed in iterations. They appear in the summary and in every output; thresholds may
 * name them. A name has 2 to 129 letters, digits and underscores, and
 * does not begin with a digit. Defining a name twice gives the same metric; defining it with another kind throws.
 */

/** Tags for one sample. */
export type Tags = Record<string, string | number | boolean>;

/** What all metrics have. */
export interface Metric {
  /** The name it was defined with. */
  readonly name: string;

  /**
   * Adds a sample, with the tags of the virtual user and these.
   *
   * A value that is not a finite number or a boolean is not counted: the call logs a warning and returns `false`, or throws
   * with the option `throw`.
   */
  add(value: number | boolean, tags?: Tags): boolean;
}

/** A sum, and its rate per second. `new Counter(name)`. */
export interface Counter extends Metric {}
export const Counter: { new (name: string, isTime?: boolean): Counter };

/** The last value, the lowest and the highest. */
export interface Gauge extends Metric {}
export const Gauge: { new (name: string, isTime?: boolean): Gauge };

/** The share of samples that are true (not 0). */
export interface Rate extends Metric {}
export const Rate: { new (name: string, isTime?: boolean): Rate };

/** A distribution: mean, lowest, highest, percentiles. With `isTime` values are milliseconds. */
export interface Trend extends Metric {}
export const Trend: { new (name: string, isTime?: boolean): Trend };

declare const metrics: {
  Counter: typeof Counter;
  Gauge: typeof Gauge;
  Rate: typeof Rate;
  Trend: typeof Trend;
};
export default metrics;
