/**
 * What a script can know about its test, and how it can end the test.
 *
 * The objects can be imported by name or as properties of the default export. Properties of an iteration throw in
 * init code. `scenario` throws in setup and teardown too.
 */

/** Options of the run after all layers (script, environment, flags) have been applied; frozen. */
export type ConsolidatedOptions = Readonly<Record<string, any>>;

/** This process. Not available in init code. */
export const instance: {
  /** Milliseconds since the test began. */
  readonly currentTestRunDuration: number;
  /** Iterations that ran to their end. */
  readonly iterationsCompleted: number;
  /** Iterations that were cut short. */
  readonly iterationsInterrupted: number;
  /** Virtual users running an iteration. */
  readonly vusActive: number;
  /** Virtual users that exist. */
  readonly vusInitialized: number;
};

/** The scenario of the current iteration. */
export const scenario: {
  /** Its name. */
  readonly name: string;
  /** Its executor: `constant-vus`. */
  readonly executor: string;
  /** When it started: milliseconds since the Unix epoch. */
  readonly startTime: number;
  /** How far it has come, 0 to 1. */
  readonly progress: number;
  /** Which iteration of the scenario this is, from 0: unique and without gaps in this process. */
  readonly iterationInInstance: number;
  /** The same over all instances of the test. */
  readonly iterationInTest: number;
};

/** The test as a whole. */
export const test: {
  /** Ends the whole test at once; teardown and the summary still run, the exit code is 108. Cannot be caught. */
  abort(reason?: string): never;
  /** Makes the exit code 110; the test goes on. Not available in init code. */
  fail(reason?: string): void;
  /** Options of the run. Not available in init code. */
  readonly options: ConsolidatedOptions;
};

/** Tags by name. Assigning accepts strings, numbers and booleans; `delete` removes a tag. */
export type Tags = Record<string, string | number | boolean>;

/** The virtual user that runs the iteration; in setup and teardown, number 0. */
export const vu: {
  /** Its number in this process, from 1. */
  readonly idInInstance: number;
  /** Its number over all instances of the test, from 1. */
  readonly idInTest: number;
  /** Iterations that it began before this one. */
  readonly iterationInInstance: number;
  /** Iterations that it began before this one in this scenario. */
  readonly iterationInScenario: number;
  /** The same as `metrics.tags`. */
  tags: Tags;
  readonly metrics: {
    /** Tags of all its samples from now on, also in later iterations of the scenario. */
    readonly tags: Tags;
    /**
     * Like tags, but for values of high cardinality: thresholds do not see them. Holds `vu` and `iter` when those system
     * tags are enabled. Scripts can set and read it; no output carries it yet.
     */
    readonly metadata: Tags;
  };
};

declare const execution: {
  instance: typeof instance;
  scenario: typeof scenario;
  test: typeof test;
  vu: typeof vu;
};
export default execution;
