/**
 * Server-sent events, as the k6 extension of this name has them. For a request of `k6/http` with events, see its param
 * `onEvent`.
 */

/**
 * Asks for a stream of events and returns when it has ended, or when `client.close()` was called. `setUp` gets the
 * client when the answer's head is there, to add handlers.
 *
 * A first request that fails gives a response with an `error`, or throws with the option `throw`. An answer that is
 * no stream of events calls the `error` handlers and has its `body`.
 *
 * @throws GoError in init code, and for arguments that are no request
 */
export function open(url: string, setUp: (client: Client) => void): Response;
export function open(url: string, params: Params | null | undefined, setUp: (client: Client) => void): Response;

/** Besides these, the params of `k6/http` that suit a request without a response object: `jar`, `cookies`, `auth`. */
export interface Params {
  /** `GET` unless it says otherwise. */
  method?: string;
  /** What to send, as in `k6/http`. */
  body?: string | ArrayBuffer | object;
  /** `Accept` is `text/event-stream` unless it is here. */
  headers?: { [name: string]: string };
  tags?: { [name: string]: string | number | boolean };
  /** For the whole stream: `"30s"`, or milliseconds. None unless it is here. */
  timeout?: string | number;
  /**
   * Not in the extension. How often the stream is asked for again when it has ended or broken: a number, or true for
   * always. `Last-Event-ID` is sent along; the wait before is the server's `retry`, or 3 s. A status of 204, or an
   * answer that is no stream of events, ends it. Without it the stream is asked for once.
   */
  reconnect?: boolean | number;
}

export interface Client {
  on(event: "open", handler: () => void): void;
  on(event: "event", handler: (event: Event) => void): void;
  on(event: "error", handler: (error: { error(): string }) => void): void;
  /** Ends the stream; no handler is called after it. The connection is closed. */
  close(): void;
}

/** An event, by the rules of the WHATWG: one without a data line is none. */
export interface Event {
  /** Empty when the event had none. */
  id: string;
  /** The last comment before the event's end; empty when there was none. */
  comment: string;
  /** The `event` field; empty when there was none. */
  name: string;
  /** The data lines, joined by line feeds. */
  data: string;
  /**
   * Not in the extension. Milliseconds from the request to the arrival of the event at this machine, by the kernel's
   * clock where the connection has it.
   */
  at: number;
}

export interface Response {
  /** The address asked for; empty when the request failed. */
  url: string;
  /** 0 when the request failed. */
  status: number;
  headers: { [name: string]: string };
  /** Not in the extension. The body of an answer that is no stream of events; else empty. */
  body: string;
  /** What went wrong; empty when nothing did. */
  error: string;
}
