/**
 * Streams: data that comes or goes piece by piece, with a limit on what is queued.
 *
 * Readable and writable streams of the Streams Standard (https://streams.spec.whatwg.org/) as k6 has them: no byte streams,
 * no `tee`, no pipes, no async iteration. They live in one virtual user and are not connected to `k6/http`.
 */

/** How much may wait in a stream. */
export interface QueuingStrategy<T = any> {
  /** The sum of sizes at which the stream asks for no more; 0 or more. Default 1. */
  highWaterMark?: number;
  /** Size of a chunk: a finite number of 0 or more. Default: 1 for each. */
  size?: (chunk: T) => number;
}

/** A strategy that counts chunks. */
export class CountQueuingStrategy {
  constructor(init: { highWaterMark: number });
  /** How many chunks may wait. */
  highWaterMark: number;
  /** 1. */
  size(chunk?: any): 1;
}

/** The controller that the functions of a source get. */
export interface ReadableStreamDefaultController<T = any> {
  /** How much more the stream wants; 0 or less: nothing for now; `null` after an error. */
  readonly desiredSize: number | null;
  /** Adds a chunk. Throws when the stream is closing, closed or has failed. */
  enqueue(chunk?: T): void;
  /** Ends the stream once what waits has been read. Throws as `enqueue` does. */
  close(): void;
  /** Makes the stream fail: reads reject with `reason`, also for what waits. */
  error(reason?: any): void;
}

/** Where the chunks of a readable stream come from. Functions may be `async`; a rejection makes the stream fail. */
export interface UnderlyingSource<T = any> {
  /** Called by the constructor; when it throws, so does that. `pull` waits for its promise. */
  start?(controller: ReadableStreamDefaultController<T>): void | Promise<void>;
  /** Called while the stream wants chunks, again when its promise has settled. */
  pull?(controller: ReadableStreamDefaultController<T>): void | Promise<void>;
  /** Called when the reader wants no more. */
  cancel?(reason?: any): void | Promise<void>;
}

/** What `read` resolves with. */
export type ReadResult<T> = { value: T; done: false } | { value: undefined; done: true };

/** Chunks to be read. */
export class ReadableStream<T = any> {
  /** @throws what `start` throws; TypeError and RangeError for a source or strategy of the wrong kind. */
  constructor(source?: UnderlyingSource<T>, strategy?: QueuingStrategy<T>);
  /** Whether a reader has it. */
  readonly locked: boolean;
  /** Cancels the stream. Rejects while a reader has it. */
  cancel(reason?: any): Promise<void>;
  /** Locks the stream to a new reader. Throws when it is locked. */
  getReader(): ReadableStreamDefaultReader<T>;
}

/** Reads a stream, alone. */
export class ReadableStreamDefaultReader<T = any> {
  /** As `stream.getReader()`. */
  constructor(stream: ReadableStream<T>);
  /** Resolves when the stream has ended; rejects when it has failed or the lock is released. */
  readonly closed: Promise<void>;
  /** The next chunk, or `done`. */
  read(): Promise<ReadResult<T>>;
  /** Cancels the stream. */
  cancel(reason?: any): Promise<void>;
  /** Releases the stream; pending reads reject. */
  releaseLock(): void;
}

/** The controller that the functions of a sink get. */
export interface WritableStreamDefaultController {
  /** Makes the stream fail: what waits is dropped, writes reject with `reason`. */
  error(reason?: any): void;
}

/** Where the chunks of a writable stream go. Functions may be `async`; one runs at a time. */
export interface UnderlyingSink<T = any> {
  /** Called by the constructor; when it throws, so does that. */
  start?(controller: WritableStreamDefaultController): void | Promise<void>;
  /** Called for each chunk in turn, the next when its promise has settled. */
  write?(chunk: T, controller: WritableStreamDefaultController): void | Promise<void>;
  /** Called after the last chunk. */
  close?(): void | Promise<void>;
  /** Called instead of `close` when the stream is aborted. */
  abort?(reason?: any): void | Promise<void>;
}

/** Takes chunks. */
export class WritableStream<T = any> {
  /** @throws what `start` throws; TypeError and RangeError for a sink or strategy of the wrong kind. */
  constructor(sink?: UnderlyingSink<T>, strategy?: QueuingStrategy<T>);
  /** Whether a writer has it. */
  readonly locked: boolean;
  /** Drops what waits and calls `abort` of the sink. Rejects while a writer has the stream. */
  abort(reason?: any): Promise<void>;
  /** Ends the stream once what waits has been written. Rejects while a writer has the stream. */
  close(): Promise<void>;
  /** Locks the stream to a new writer. Throws when it is locked. */
  getWriter(): WritableStreamDefaultWriter<T>;
}

/** Writes to a stream, alone. */
export class WritableStreamDefaultWriter<T = any> {
  /** As `stream.getWriter()`. */
  constructor(stream: WritableStream<T>);
  /** Resolves when the stream is closed; rejects when it has failed or the lock is released. */
  readonly closed: Promise<void>;
  /** Resolves while the stream wants more: await it before `write`. */
  readonly ready: Promise<void>;
  /** How much more the stream wants; `null` after an error. Throws when the lock is released. */
  readonly desiredSize: number | null;
  /** Aborts the stream. */
  abort(reason?: any): Promise<void>;
  /** Closes the stream. */
  close(): Promise<void>;
  /** Adds a chunk; resolves when the sink has taken it. */
  write(chunk?: T): Promise<void>;
  /** Gives the stream free. */
  releaseLock(): void;
}

declare const streams: {
  ReadableStream: typeof ReadableStream;
  CountQueuingStrategy: typeof CountQueuingStrategy;
  ReadableStreamDefaultReader: typeof ReadableStreamDefaultReader;
  WritableStream: typeof WritableStream;
  WritableStreamDefaultWriter: typeof WritableStreamDefaultWriter;
};
export default streams;
