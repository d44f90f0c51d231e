/**
 * WebSockets, blocking: `connect` returns when the socket is closed. Until then Onrush calls the script's handlers.
 */

/** Opens a connection, calls `begin` with its socket, and runs until the socket is closed. Not in init code. */
export function connect(url: string, begin: (socket: Socket) => void): Response;
export function connect(url: string, params: Params | null | undefined, begin: (socket: Socket) => void): Response;

/** Params of a connection. */
export interface Params {
  /** Headers of the request; `Sec-WebSocket-Protocol` offers subprotocols. */
  headers?: { [name: string]: string };
  /** Tags of all samples of this connection. `name` replaces the `url` tag. */
  tags?: { [name: string]: string | number | boolean };
  /** Jar of the cookies to send and to receive; by default the user's jar. */
  jar?: object | null;
  /** Offers permessage-deflate, each message by itself. */
  compression?: "" | "deflate";
}

/** The outcome of connecting. */
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
  /** Close code and reason, unless the peer closed with 1000 or 1001; 1006 without a close frame. */
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
  /** Sends bytes. k6 takes only an ArrayBuffer. */
  sendBinary(message: ArrayBuffer | ArrayBufferView): void;
  /** Sends a ping; its pong is a sample of `ws_ping` and an event. */
  ping(): void;
  /** Closes, by default with 1001; calls the close handlers at once. */
  close(code?: number): void;
  /** Calls the function once, after this many milliseconds, unless the socket is closed before. */
  setTimeout(callback: () => void, ms: number): void;
  /** Calls the function at this interval in milliseconds until the socket is closed. */
  setInterval(callback: () => void, ms: number): void;
}
