/**
 * Globals of apps (`onrush serve app.js`), beside the globals of test scripts (`console`, timers,
 * `TextEncoder`, `TextDecoder`, `crypto`, `open`, `__ENV`) and those of the language. Test scripts have none of these.
 *
 * The classes follow the Fetch, URL, Streams and DOM standards; differences are noted here.
 */

/** The default export of an app. */
export interface App {
  /**
   * Answers a request. While it waits for promises, the worker serves other requests. Functions that block (`sleep`,
   * `http.get`) throw. Onrush interrupts JavaScript that runs for longer than `--busy-limit` (5 s) without
   * waiting.
   *
   * When it throws, the client gets 500 and the log has the line.
   */
  fetch(request: Request, context: Context): Response | Promise<Response>;
  /**
   * Returns memory for a piece of this request's body; the socket reads into it (HTTP/2 is copied into it). Onrush calls it when
   * bytes have arrived. The buffer is detached and comes back as `piece.buffer`; return it again later. Without this function
   * pieces are in the server's own pool.
   *
   * @param size what the socket gives at once: `--receive-size` (64 KiB), at most the Content-Length. Your buffer may have another size.
   * @param request the object that `fetch` got.
   */
  allocate?(size: number, request: Request): ArrayBuffer | Uint8Array;
  /** Takes every request that asks for a WebSocket; without it they go to `fetch`. The first subprotocol offered is chosen. */
  websocket?: WebSocketHandlers;
}

/** Handlers of the app's WebSockets. When one throws, the log has the error, and the socket stays open. */
export interface WebSocketHandlers {
  /** Bytes of a message at most, inflated; by default and at most 64 MiB. A longer one closes the connection with 1009. */
  maxMessage?: number;
  open?(ws: ServerWebSocket): void | Promise<void>;
  /** A string, or the bytes of a binary message. */
  message?(ws: ServerWebSocket, message: string | Uint8Array): void | Promise<void>;
  /** Everything queued for a slow client has left. */
  drain?(ws: ServerWebSocket): void | Promise<void>;
  /** It is over: the client's code and reason, 1005 when it gave none, 1006 without a close frame. */
  close?(ws: ServerWebSocket, code: number, reason: string): void | Promise<void>;
}

/** The server's end of a WebSocket. */
export interface ServerWebSocket {
  /** For the app's own data. */
  data: any;
  /** The request that opened it, without a body. */
  readonly request: Request;
  /** 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Bytes queued that the kernel has not taken yet. */
  readonly bufferedAmount: number;
  /** The subprotocol agreed on, or an empty string. */
  readonly protocol: string;
  /** Queues a message and returns at once; false when it will not arrive. A client that falls too far behind is disconnected. */
  send(message: string | ArrayBuffer | ArrayBufferView): boolean;
  ping(payload?: string | ArrayBuffer | ArrayBufferView): boolean;
  /** Begins to close, by default with code 1000. */
  close(code?: number, reason?: string): boolean;
  /** Drops the connection without a close frame. */
  terminate(): void;
  /** Receives messages of this room from now on. */
  subscribe(room: string): void;
  unsubscribe(room: string): void;
  isSubscribed(room: string): boolean;
  /** Sends to all other sockets in a room, on all workers. */
  publish(room: string, message: string | ArrayBuffer | ArrayBufferView): void;
}

/** The second argument of `fetch`. */
export interface Context {
  /** `__ENV`. */
  env: Record<string, string>;
  /** Logs the rejection of work that continues after the response. */
  waitUntil(promise: Promise<unknown>): void;
  /** Does nothing; for apps written for other servers. */
  passThroughOnException(): void;
  /** The client's IP address; null on a unix socket. */
  remoteAddress(request: Request): string | null;
}

declare global {
  /** Onrush's own functions. */
  const Onrush: {
    /**
     * A part of a file as the body of a response: sent by the kernel, never read into memory. Relative paths start at the module
     * that calls.
     */
    file(path: string, options?: { offset?: number; length?: number }): FileBody;
    /**
     * Returns a piece of a request's body to the server's pool at once, not only when nothing refers to it. The piece and all
     * views of its buffer are empty afterwards.
     */
    release(piece: ArrayBuffer | ArrayBufferView): void;
  };

  /** Made by `Onrush.file`. */
  interface FileBody {
    /** Bytes that will be sent. */
    readonly size: number;
  }

  /** A piece of a body. */
  type Piece = string | ArrayBuffer | ArrayBufferView;

  /**
   * The body of a response. A list of pieces has a known length. Everything else that can be iterated is sent in chunks, as fast
   * as the client takes them.
   */
  type ResponseBody =
    | Piece | Piece[] | Iterable<Piece> | AsyncIterable<Piece> | ReadableStream | Blob | URLSearchParams | FileBody | null;

  class Request {
    constructor(input: string | URL | Request, init?: { method?: string; headers?: HeadersInit; body?: ResponseBody; signal?: AbortSignal });
    readonly method: string;
    /** Scheme, host, path and query. */
    readonly url: string;
    readonly headers: Headers;
    /** Aborted when the client goes away before it was answered. */
    readonly signal: AbortSignal;
    /**
     * The body as a stream of `Uint8Array`s, each a view of the memory it was received into; null without one. Onrush receives
     * only what the app reads. It cannot be read after the response is complete.
     */
    readonly body: ReadableStream | null;
    readonly bodyUsed: boolean;
    text(): Promise<string>;
    json(): Promise<any>;
    arrayBuffer(): Promise<ArrayBuffer>;
    bytes(): Promise<Uint8Array>;
    blob(): Promise<Blob>;
    /** Of multipart/form-data and application/x-www-form-urlencoded. */
    formData(): Promise<FormData>;
  }

  class Response {
    constructor(body?: ResponseBody, init?: { status?: number; statusText?: string; headers?: HeadersInit });
    static json(data: unknown, init?: { status?: number; headers?: HeadersInit }): Response;
    static redirect(url: string | URL, status?: 301 | 302 | 303 | 307 | 308): Response;
    static error(): Response;
    /** 200 to 599. */
    readonly status: number;
    readonly statusText: string;
    readonly ok: boolean;
    /** Lines that frame the message (content-length, transfer-encoding, connection) are the server's, and left out. */
    readonly headers: Headers;
    readonly body: ReadableStream | null;
    readonly bodyUsed: boolean;
    clone(): Response;
    text(): Promise<string>;
    json(): Promise<any>;
    arrayBuffer(): Promise<ArrayBuffer>;
    bytes(): Promise<Uint8Array>;
    blob(): Promise<Blob>;
    formData(): Promise<FormData>;
  }

  type HeadersInit = Headers | Record<string, string> | Iterable<[string, string]>;

  class Headers implements Iterable<[string, string]> {
    constructor(init?: HeadersInit);
    append(name: string, value: string): void;
    delete(name: string): void;
    get(name: string): string | null;
    getSetCookie(): string[];
    has(name: string): boolean;
    set(name: string, value: string): void;
    forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void;
    entries(): IterableIterator<[string, string]>;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string>;
    [Symbol.iterator](): IterableIterator<[string, string]>;
  }

  /** The URL Standard in full. */
  class URL {
    constructor(url: string | URL, base?: string | URL);
    static canParse(url: string, base?: string): boolean;
    static parse(url: string, base?: string): URL | null;
    href: string;
    readonly origin: string;
    protocol: string;
    username: string;
    password: string;
    host: string;
    hostname: string;
    port: string;
    pathname: string;
    search: string;
    readonly searchParams: URLSearchParams;
    hash: string;
    toString(): string;
    toJSON(): string;
  }

  class URLSearchParams implements Iterable<[string, string]> {
    constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
    readonly size: number;
    append(name: string, value: string): void;
    delete(name: string, value?: string): void;
    get(name: string): string | null;
    getAll(name: string): string[];
    has(name: string, value?: string): boolean;
    set(name: string, value: string): void;
    sort(): void;
    forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void;
    entries(): IterableIterator<[string, string]>;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string>;
    [Symbol.iterator](): IterableIterator<[string, string]>;
    toString(): string;
  }

  class Blob {
    constructor(parts?: Iterable<Piece | Blob>, options?: { type?: string });
    readonly size: number;
    readonly type: string;
    arrayBuffer(): Promise<ArrayBuffer>;
    bytes(): Promise<Uint8Array>;
    text(): Promise<string>;
    slice(start?: number, end?: number, type?: string): Blob;
    stream(): ReadableStream;
  }

  class File extends Blob {
    constructor(parts: Iterable<Piece | Blob>, name: string, options?: { type?: string; lastModified?: number });
    readonly name: string;
    readonly lastModified: number;
  }

  class FormData implements Iterable<[string, string | File]> {
    append(name: string, value: string | Blob, fileName?: string): void;
    delete(name: string): void;
    get(name: string): string | File | null;
    getAll(name: string): (string | File)[];
    has(name: string): boolean;
    set(name: string, value: string | Blob, fileName?: string): void;
    forEach(callback: (value: string | File, name: string, form: FormData) => void, self?: unknown): void;
    entries(): IterableIterator<[string, string | File]>;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string | File>;
    [Symbol.iterator](): IterableIterator<[string, string | File]>;
  }

  /** As in `k6/experimental/streams`, and an async iterable. No byte streams, no `tee`, no pipes. */
  class ReadableStream {
    constructor(source?: object, strategy?: object);
    static from(source: Iterable<any> | AsyncIterable<any>): ReadableStream;
    readonly locked: boolean;
    cancel(reason?: unknown): Promise<void>;
    getReader(): { read(): Promise<{ value: any; done: boolean }>; cancel(reason?: unknown): Promise<void>; releaseLock(): void; readonly closed: Promise<void> };
    values(options?: { preventCancel?: boolean }): AsyncIterableIterator<any>;
    [Symbol.asyncIterator](): AsyncIterableIterator<any>;
  }

  /** Neither bubbles nor captures. */
  class EventTarget {
    addEventListener(type: string, listener: (event: Event) => void, options?: { once?: boolean }): void;
    removeEventListener(type: string, listener: (event: Event) => void): void;
    dispatchEvent(event: Event): boolean;
  }
  class Event {
    constructor(type: string);
    readonly type: string;
  }
  class AbortSignal extends EventTarget {
    static abort(reason?: unknown): AbortSignal;
    static timeout(milliseconds: number): AbortSignal;
    readonly aborted: boolean;
    readonly reason: unknown;
    onabort: ((event: Event) => void) | null;
    throwIfAborted(): void;
  }
  class AbortController {
    readonly signal: AbortSignal;
    abort(reason?: unknown): void;
  }
}
