/**
 * Socket.IO 4, as npm's `socket.io-client` has it: by polling, WebSocket, or polling and the upgrade.
 *
 * ```js
 * import { io } from 'onrush/socketio';
 *
 * export default function () {
 *   const socket = io('http://localhost:3000', { transports: ['websocket'] });
 *   socket.on('connect', () => socket.emit('join', 'room', () => socket.disconnect()));
 * }
 * ```
 *
 * The iteration ends when its sockets are disconnected. Requests and WebSockets have their usual metrics, under one name for all
 * sessions: the address without its query. `socketio_connecting` is the time until a namespace was joined, `socketio_ack` the time from
 * an event to its acknowledgement, `socketio_events_sent` and `socketio_events_received` count events. `stamp`, `record` and, over
 * WebSocket, `arrival` of `onrush/delay` work in handlers of events.
 *
 * Not here: WebTransport, `retries`, other parsers.
 */

/**
 * A socket of the namespace that the address's path names. Sockets of one address share a connection unless an option says otherwise.
 *
 * @throws GoError for an address without http, https, ws or wss, for an unknown transport, and in init code once it connects
 */
export function io(url: string, options?: Options): Socket;
/** The same. */
export function connect(url: string, options?: Options): Socket;

/** Options, with the names and the standard values of npm's client. */
export interface Options {
  /** `/socket.io/` */
  path?: string;
  /** Behind the address, in addition to its own query. */
  query?: { [name: string]: string };
  /** For the namespace: an object, or a function that is given what to call with it. */
  auth?: object | ((answer: (data: object) => void) => void);
  /** `["polling", "websocket"]`: begins with the first and changes to the other. */
  transports?: ("polling" | "websocket")[];
  /** Whether polling is followed by WebSocket. True. */
  upgrade?: boolean;
  /** Headers of all requests and of the WebSocket. */
  extraHeaders?: { [name: string]: string };
  /** Not in npm's client. Tags of the samples of all requests and WebSockets. */
  tags?: { [name: string]: string | number | boolean };
  /** A connection of its own. */
  forceNew?: boolean;
  multiplex?: boolean;
  autoConnect?: boolean;
  /** True; then `reconnectionAttempts` (no limit), `reconnectionDelay` (1000 ms), `reconnectionDelayMax` (5000), `randomizationFactor` (0.5). */
  reconnection?: boolean;
  reconnectionAttempts?: number;
  reconnectionDelay?: number;
  reconnectionDelayMax?: number;
  randomizationFactor?: number;
  /** For connecting: 20000 ms; false for none. */
  timeout?: number | false;
  /** For acknowledgements: milliseconds, none unless it is here. */
  ackTimeout?: number;
  addTrailingSlash?: boolean;
}

/** What sockets and managers share. */
declare class Emitter {
  on(event: string, listener: (...args: any[]) => void): this;
  addEventListener(event: string, listener: (...args: any[]) => void): this;
  once(event: string, listener: (...args: any[]) => void): this;
  off(event?: string, listener?: (...args: any[]) => void): this;
  removeListener(event?: string, listener?: (...args: any[]) => void): this;
  removeAllListeners(event?: string): this;
  listeners(event: string): ((...args: any[]) => void)[];
  hasListeners(event: string): boolean;
}

/** Events: `connect`, `disconnect` (reason, details), `connect_error` (error), and those of the server. */
export declare class Socket extends Emitter {
  readonly id: string | undefined;
  readonly connected: boolean;
  readonly disconnected: boolean;
  /** It is connected, or will be again by itself. */
  readonly active: boolean;
  /** The server gave what was missed while the connection was away. */
  readonly recovered: boolean;
  auth: object | ((answer: (data: object) => void) => void) | undefined;
  readonly io: Manager;
  connect(): this;
  open(): this;
  /**
   * Sends an event. A function as the last argument is called with the acknowledgement, and after `timeout(ms)` with an error or null
   * before it. ArrayBuffers and views travel as they are. What is sent before the connection stands waits for it.
   */
  emit(event: string, ...args: any[]): this;
  /** A promise of the acknowledgement. */
  emitWithAck(event: string, ...args: any[]): Promise<any>;
  /** `emit("message", …)` */
  send(...args: any[]): this;
  /** For the acknowledgement of the next event. */
  timeout(ms: number): this;
  /** The next event is dropped when it cannot be sent at once. */
  readonly volatile: this;
  /** Does nothing. */
  compress(value?: boolean): this;
  onAny(listener: (event: string, ...args: any[]) => void): this;
  prependAny(listener: (event: string, ...args: any[]) => void): this;
  offAny(listener?: (event: string, ...args: any[]) => void): this;
  listenersAny(): ((event: string, ...args: any[]) => void)[];
  onAnyOutgoing(listener: (event: string, ...args: any[]) => void): this;
  offAnyOutgoing(listener?: (event: string, ...args: any[]) => void): this;
  disconnect(): this;
  close(): this;
}

/** A connection. Events: `open`, `close`, `error`, `ping`, `reconnect`, `reconnect_attempt`, `reconnect_error`, `reconnect_failed`. */
export declare class Manager extends Emitter {
  readonly opts: Options;
  reconnection(value?: boolean): any;
  reconnectionAttempts(value?: number): any;
  reconnectionDelay(value?: number): any;
  reconnectionDelayMax(value?: number): any;
  randomizationFactor(value?: number): any;
  timeout(value?: number | false): any;
}
