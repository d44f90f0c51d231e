/**
 * WebSockets, blocking: `connect` returns when the socket is closed. Until then the handlers that the script set are called.
 */

/** Opens a connection, calls `begin` with its socket, and runs until the socket is closed. Not in init code. */
export function connect(url: string, begin: (socket: Socket) => void): Response;
export function connect(url: string, params: Params | null | undefined, begin: (socket: Socket) => void): Response;

/** What a connection can be told. */
export interface Params {
  /** Headers of the request; `Sec-WebSocket-Protocol` offers subprotocols. */
  headers?: { [name: string]: string };
  /** Tags of all samples of this connection. `name` takes the place of the `url` tag. */
  tags?: { [name: string]: string | number | boolean };
  /** Cookies to send and where to keep those of the answer; the user's own jar without it. */
  jar?: object | null;
  /** Offers permessage-deflate, each message by itself. */
  compression?: "" | "deflate";
}

/** How connecting went. */
export interface Response {
  /** The address; empty when there was no connection. */
  url: string;
  /** 101, the status of another answer, or 0. */
  status: number;
  /** Headers of the answer, in canonical case. */
  headers: { [name: string]: string };
  /** Body of an answer that was no upgrade. */
  body: string;
  /** Why there was no answer; empty when there was one. With the option `throw` it is thrown instead. */
  error: string;
}

/** What went wrong on an open connection. */
export interface SocketError {
  /** The text. */
  error(): string;
  /** Close code and reason, when the peer closed for another reason than 1000 or 1001, or without a close frame (1006). */
  code?: number;
  text?: string;
}

/** An open connection. */
export interface Socket {
  /** Adds a handler. Several of one event are called in their order. */
  on(event: "open" | "ping" | "pong", handler: () => void): void;
  on(event: "message", handler: (message: string) => void): void;
  on(event: "binaryMessage", handler: (message: ArrayBuffer) => void): void;
  on(event: "close", handler: (code: number) => void): void;
  on(event: "error", handler: (error: SocketError) => void): void;
  /** Sends a text; other values as `String(message)`. Queued: what a handler sends leaves in one write. */
  send(message: string): void;
  /** Sends bytes. k6 takes an ArrayBuffer alone. */
  sendBinary(message: ArrayBuffer | ArrayBufferView): void;
  /** Sends a ping; its pong is a sample of `ws_ping` and an event. */
  ping(): void;
  /** Closes, with 1001 unless told otherwise; calls the close handlers at once. */
  close(code?: number): void;
  /** Calls the function once, after so many milliseconds, unless the socket is closed before. */
  setTimeout(callback: () => void, ms: number): void;
  /** Calls the function every so many milliseconds until the socket is closed. */
  setInterval(callback: () => void, ms: number): void;
}
