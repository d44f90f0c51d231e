/**
 * WebSockets as in browsers, on the event loop. An iteration ends when its sockets are closed.
 */

/** A connection. Make it in the default function, not in init code. */
export declare class WebSocket {
  /** The value of `readyState` before the connection is open. */
  static readonly CONNECTING: 0;
  /** The value of `readyState` of an open connection. */
  static readonly OPEN: 1;
  /** The value of `readyState` between the wish to close and the end. */
  static readonly CLOSING: 2;
  /** The value of `readyState` after the end. */
  static readonly CLOSED: 3;
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSING: 2;
  readonly CLOSED: 3;
  /**
   * Begins to connect to a `ws:` or `wss:` address, offering subprotocols.
   *
   * @throws for an unknown param, and for a subprotocol with a line break or another control character.
   */
  constructor(url: string, protocols?: string | string[] | null, params?: Params | null);
  /** The address as given. */
  readonly url: string;
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Bytes of frames that were queued and not written yet. */
  readonly bufferedAmount: number;
  /** The extension in use: empty, or permessage-deflate. */
  readonly extensions: string[];
  /** The subprotocol that the server chose, or an empty string. */
  readonly protocol: string;
  /** The type of binary messages. */
  binaryType: "blob" | "arraybuffer";
  onopen: ((event: Event) => void) | undefined;
  onmessage: ((event: MessageEvent) => void) | undefined;
  onerror: ((event: ErrorEvent) => void) | undefined;
  onclose: ((event: CloseEvent) => void) | undefined;
  onping: ((event: Event) => void) | undefined;
  onpong: ((event: Event) => void) | undefined;
  /** Adds a handler, called after the `on…` one. If a handler throws, the iteration ends. */
  addEventListener(type: "open" | "message" | "error" | "close" | "ping" | "pong", handler: (event: any) => void): void;
  /** Queues a message; throws unless the socket is open. What handlers send leaves in one write. */
  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void;
  /** Sends a ping; its pong is a sample of `ws_ping` and an event. */
  ping(): void;
  /** Closes with 1000 or a code from 3000 to 4999, and a reason of at most 123 bytes. */
  close(code?: number, reason?: string): void;
}

/** Params of a connection. */
export interface Params {
  /** Headers of the request. */
  headers?: { [name: string]: string };
  /** Tags of all samples of this connection; `name` is the `name` and the `url` tag. */
  tags?: { [name: string]: string | number | boolean };
  /** Jar of the cookies to send and to receive; by default the user's jar. */
  jar?: object | null;
  /** Offers permessage-deflate, each message by itself. */
  compression?: "" | "deflate";
}

/** The argument of handlers. */
export interface Event {
  type: string;
  target: WebSocket;
  /** Milliseconds since 1970. */
  timestamp: number;
}
export interface MessageEvent extends Event {
  data: string | ArrayBuffer | Blob;
  /** The address. */
  origin: string;
}
export interface ErrorEvent extends Event {
  /** The text. */
  error: string;
}
export interface CloseEvent extends Event {
  /** The peer's code; 1006 when it sent none; undefined when there was no connection or the peer broke the protocol. */
  code?: number;
  reason: string;
}

/** Immutable bytes. */
export declare class Blob {
  constructor(parts?: (string | ArrayBuffer | ArrayBufferView | Blob)[] | null, options?: { type?: string });
  /** Bytes. */
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  /** A part; negative positions count from the end. */
  slice(start?: number, end?: number, type?: string): Blob;
  /** A `ReadableStream` of `k6/experimental/streams`. */
  stream(): any;
}
