/**
 * Streams of bytes over TCP: the class `Socket`, as in k6's extension of that name (version 0.2).
 *
 * Handlers and promises run on the virtual user's event loop. The iteration does not end before its sockets are closed:
 * destroy them, or let the server close. An iteration that is cut short closes them without a further call.
 *
 * Connections follow the test's rules for names, addresses, TLS and links, and their bytes count as `data_sent` and
 * `data_received`. When the server closes its side, the socket is destroyed.
 *
 * | metric | type | what |
 * |---|---|---|
 * | `tcp_sockets` | counter | connections that were opened |
 * | `tcp_socket_resolving` | trend, ms | finding the server's address |
 * | `tcp_socket_connecting` | trend, ms | connecting, without TLS |
 * | `tcp_socket_duration` | trend, ms | from open to closed |
 * | `tcp_reads` | counter | pieces that arrived, of at most 4096 bytes: as many as `data` events |
 * | `tcp_writes` | counter | writes, those that failed included |
 * | `tcp_partial_writes` | counter | writes of which a part was sent |
 * | `tcp_errors` | counter | failures of connecting, reading and writing |
 * | `tcp_timeouts` | counter | `timeout` events |
 *
 * Their tags are those of the virtual user, `proto` (`TCP`), `host`, `port`, with the system tag `ip` also the server's
 * address, and those that the script gives: of a write before those of `connect`, and these before those of the socket.
 *
 * A failure is told to the handler of `error`, if there is one, and rejects the promise of `connect` or `write` with the
 * same `GoError`. With such a handler, a rejected promise that nobody looks after is no mistake.
 *
 * `connectAsync` and `writeAsync`, the names of version 0.1, do the same as `connect` and `write`. Version 0.1 had
 * synchronous ones under these two names; here they give promises, as in 0.2. Other differences from k6: TLS offers no
 * application protocol (k6 offers `http/1.1`), and connecting ends after 30 seconds with TLS included.
 *
 * ```js
 * import { Socket } from "k6/x/tcp";
 *
 * export default async function () {
 *   const socket = new Socket({ tags: { service: "echo" } });
 *   socket.on("data", (data) => {
 *     console.log(String.fromCharCode(...data));
 *     socket.destroy();
 *   });
 *   socket.on("error", (error) => console.error(error.message));
 *   await socket.connect(7, "echo.example.com");
 *   await socket.write("hello");
 * }
 * ```
 */

/** Names and values that samples carry. */
export type Tags = { [name: string]: string | number | boolean };

/** Options of `new Socket`. */
export interface SocketOptions {
  /** Of all samples of the socket. */
  tags?: Tags;
}

/** Options of `connect`. */
export interface ConnectOptions {
  /** From 1 to 65535. */
  port: number | string;
  /** A name or an address. @default "localhost" */
  host?: string;
  /** Encrypted from the first byte, by the test's TLS options. @default false */
  tls?: boolean;
  /** Of all samples of the connection. */
  tags?: Tags;
}

/** Options of `write`. */
export interface WriteOptions {
  /** What a string is; nothing for bytes. `ascii` is the same as `utf8`. @default "utf8" */
  encoding?: "utf8" | "utf-8" | "ascii" | "base64" | "base64url" | "hex";
  /** Of the samples of this write. */
  tags?: Tags;
}

/** Where a socket is in its life. From `destroyed` there is no way back; a connect that failed leads to `disconnected`. */
export type SocketState = "disconnected" | "opening" | "open" | "destroyed";

/** A connection over TCP. */
export class Socket {
  /** @param options nothing is connected yet */
  constructor(options?: SocketOptions);

  /** Where it is in its life. */
  readonly ready_state: SocketState;
  /** Whether it is open. */
  readonly connected: boolean;
  /** This side's address; undefined before it was connected, as are the next three. */
  readonly local_ip: string | undefined;
  /** This side's port. */
  readonly local_port: number | undefined;
  /** The server's address. */
  readonly remote_ip: string | undefined;
  /** The server's port. */
  readonly remote_port: number | undefined;
  /** Bytes of finished writes, without those of TLS. */
  readonly bytes_written: number;
  /** Bytes of `data` events. */
  readonly bytes_read: number;

  /**
   * Connects.
   *
   * @param port from 1 to 65535
   * @param host a name or an address; without one `localhost`
   * @returns kept when the connection is open, after the handler of `connect` was called
   * @throws GoError for wrong arguments, for a socket that is not disconnected, and for a connection that fails
   */
  connect(port: number | string, host?: string): Promise<void>;
  connect(options: ConnectOptions): Promise<void>;

  /**
   * Sends bytes, behind those of earlier calls.
   *
   * @param data a string, or bytes
   * @returns kept when the kernel has taken all of it
   * @throws GoError for wrong arguments, for a socket that is not open, and for a connection that fails
   */
  write(data: string | ArrayBuffer | ArrayBufferView, options?: WriteOptions): Promise<void>;

  /** The same as `connect`, as version 0.1 called it. */
  connectAsync(port: number | string, host?: string): Promise<void>;
  connectAsync(options: ConnectOptions): Promise<void>;

  /** The same as `write`, as version 0.1 called it. */
  writeAsync(data: string | ArrayBuffer | ArrayBufferView, options?: WriteOptions): Promise<void>;

  /**
   * Closes the connection. What was not written yet is lost, and its promise rejected.
   *
   * @param error told to the handler of `error` before that of `close` is called
   */
  destroy(error?: any): this;

  /**
   * Has `timeout` events sent when nothing has arrived for so long, again and again. The connection stays open.
   *
   * @param timeout in milliseconds; 0 for none
   */
  setTimeout(timeout: number): this;

  /** Sets the one handler of an event: the connection is open. */
  on(event: "connect", listener: () => void): this;
  /** Bytes arrived: whatever one read brought, at most 4096. */
  on(event: "data", listener: (data: Uint8Array) => void): this;
  /** It is destroyed, by the script or by the server: the last event, and once. Not after a connect that failed. */
  on(event: "close", listener: () => void): this;
  /** Connecting, reading or writing failed. */
  on(event: "error", listener: (error: any) => void): this;
  /** Nothing arrived for as long as `setTimeout` said. */
  on(event: "timeout", listener: () => void): this;
}

declare const tcp: { Socket: typeof Socket };
export default tcp;
