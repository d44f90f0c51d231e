/** Calls of gRPC, and streams. */

/** Params of `connect`. */
export interface ConnectParams {
  /** Without TLS. */
  plaintext?: boolean;
  /** For the connection, its TLS included: `"60s"` unless given. A number is milliseconds. */
  timeout?: string | number;
  /** Asks the server for its descriptors, so that nothing has to be loaded. */
  reflect?: boolean;
  /** Metadata of these questions. */
  reflectMetadata?: Record<string, string | Uint8Array>;
  /** Bytes of a message that is received at most: 4 MiB unless given. */
  maxReceiveSize?: number;
  /** Bytes of a message that is sent at most. */
  maxSendSize?: number;
  /** `:authority` of the calls and the name in the server's certificate, when they are not those of the address. */
  authority?: string;
  /** Trust and client certificate of this connection, as PEM. */
  tls?: { cert?: string; key?: string; password?: string; cacerts?: string | string[] };
  /**
   * So many connections are shared by all clients of a worker that connect to this address with these params, instead of one a
   * client. Calls of different users are then streams of one connection. `close` leaves a shared connection open. Beyond k6.
   */
  connections?: number;
  /**
   * `"connect"`: calls are those of the Connect protocol (connectrpc.com), not gRPC's. `"grpc"` unless given. Beyond k6, as are the
   * two below.
   */
  protocol?: "grpc" | "connect";
  /** How messages of Connect are written: `"proto"` unless given. `"json"` is the JSON mapping of Protocol Buffers. */
  codec?: "proto" | "json";
  /**
   * What calls of Connect go by: `"1.1"` for plaintext, `"2"` with TLS unless given. By HTTP/1.1 nothing is connected before the
   * first call, messages of a stream are sent when its sending has ended, and streams both ways are refused.
   */
  httpVersion?: "1.1" | "2";
}

/** Params of a call. */
export interface Params {
  /** Names with their values; a name that ends with `-bin` has bytes. */
  metadata?: Record<string, string | Uint8Array | ArrayBuffer>;
  /** Tags of its samples. `name` replaces the tag of that name. */
  tags?: Record<string, string | number | boolean>;
  /** For the whole call: `"2m"` unless given, without limit for streams. A number is milliseconds. */
  timeout?: string | number;
  /** Does not make a value of the answer's message: it is `null`. */
  discardResponseMessage?: boolean;
  /** `"binary"`: the answer's message is an ArrayBuffer with its encoded bytes, which nobody checks. Beyond k6. */
  responseType?: "object" | "binary";
}

/** Why a call failed. */
export interface GrpcError {
  /** A status, for example `grpc.StatusNotFound`. */
  code: number;
  /** The server's words. */
  message: string;
  /** Messages that the server sent with it. */
  details: object[];
}

/** What came of a call. */
export interface Response {
  /** The message in JSON's form, with defaults where the server said nothing; its bytes when `responseType` is `"binary"`. */
  message: object | ArrayBuffer | null;
  /** `null` when the status is OK. */
  error: GrpcError | null;
  /** Metadata before the message. */
  headers: Record<string, string[]>;
  /** Metadata behind it. */
  trailers: Record<string, string[]>;
  /** `grpc.StatusOK`, or another one. */
  status: number;
}

/** A method that was loaded. */
export interface MethodInfo {
  package: string;
  service: string;
  full_method: string;
  name: string;
  is_client_stream: boolean;
  is_server_stream: boolean;
}

/** A client with a connection of its own. */
export class Client {
  /** Compiles .proto files. Only in init code. Paths are relative to the script of the test, in its modules too. */
  load(importPaths: string[] | null, ...protoFiles: string[]): MethodInfo[];
  /** Reads a protoset: a `FileDescriptorSet` that protoc or buf wrote. Only in init code. */
  loadProtoset(path: string): MethodInfo[];
  /** Connects to `host:port`. Throws when that fails. Not in init code. */
  connect(address: string, params?: ConnectParams): boolean;
  /** Calls `package.Service/Method` and waits for the answer. A buffer is a message that is encoded already. */
  invoke(method: string, request: object | ArrayBuffer | ArrayBufferView, params?: Params): Response;
  /** The same as a promise. */
  asyncInvoke(method: string, request: object | ArrayBuffer | ArrayBufferView, params?: Params): Promise<Response>;
  /** Asks the server's health service; throws when the call fails. */
  healthCheck(service?: string): { status: number };
  /** Closes the connection. */
  close(): void;
}

/** Messages both ways. The iteration ends after its streams. */
export class Stream {
  constructor(client: Client, method: string, params?: Params);
  /** A message came. `ts` is when, in seconds since 1970. */
  on(event: "data", handler: (message: object | ArrayBuffer, metadata: { ts: number }) => void): void;
  /** The stream failed, or a message could not be sent. */
  on(event: "error", handler: (error: GrpcError) => void): void;
  /** The stream is over. */
  on(event: "end", handler: () => void): void;
  on(event: "status", handler: (status: object) => void): void;
  /** Sends a message; a buffer is one that is encoded already. */
  write(request: object | ArrayBuffer | ArrayBufferView): void;
  /** Says that no more messages will be sent. */
  end(): void;
}

export const StatusOK: 0;
export const StatusCanceled: 1;
export const StatusUnknown: 2;
export const StatusInvalidArgument: 3;
export const StatusDeadlineExceeded: 4;
export const StatusNotFound: 5;
export const StatusAlreadyExists: 6;
export const StatusPermissionDenied: 7;
export const StatusResourceExhausted: 8;
export const StatusFailedPrecondition: 9;
export const StatusAborted: 10;
export const StatusOutOfRange: 11;
export const StatusUnimplemented: 12;
export const StatusInternal: 13;
export const StatusUnavailable: 14;
export const StatusDataLoss: 15;
export const StatusUnauthenticated: 16;
export const HealthCheckUnknown: 0;
export const HealthCheckServing: 1;
export const HealthCheckNotServing: 2;
export const HealthCheckServiceUnkown: 3;
