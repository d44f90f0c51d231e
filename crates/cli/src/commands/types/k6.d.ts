// What Onrush adds to the declarations of k6 (@types/k6).

import "k6/http";
import "k6/options";

declare global {
  /** As TypeScript's own library has it, for projects without that of browsers. */
  interface Console {
    debug(...values: unknown[]): void;
    error(...values: unknown[]): void;
    info(...values: unknown[]): void;
    log(...values: unknown[]): void;
    warn(...values: unknown[]): void;
  }
  var console: Console;
  function setTimeout(callback: (...values: any[]) => void, delay?: number, ...values: unknown[]): number;
  function setInterval(callback: (...values: any[]) => void, delay?: number, ...values: unknown[]): number;
  function clearTimeout(id?: number): void;
  function clearInterval(id?: number): void;
}

declare module "k6/options" {
  interface Options {
    /** The link of every virtual user: a name such as "4g", or its figures: "download=10mbps,latency=20ms". */
    network?: string | { [figure: string]: string | number };
    /** Whether requests may use HTTP/2, and how many connections the users of a scenario share. */
    http2?: boolean | { connections: number; streams?: number };
    /** Resume TLS sessions of earlier connections of the same user. */
    tlsResumption?: boolean;
    /** Log each frame of WebSockets. */
    wsDebug?: boolean;
    /** `httpDebug` and `wsDebug` show this user alone. */
    debugVU?: number;
    /** Query parameters whose values are masked in results and messages. */
    maskParams?: string[];
    /** Bytes of a socket's send buffer; 0: the kernel decides. */
    sendBuffer?: number;
    /** Fail a response whose body decodes to more than this, such as "64m". */
    maxDecodedBody?: string | number;
    /** Fail a response whose body decodes to more than 10 MiB and this many times its size. */
    maxDecodedRatio?: number;
    /** Names of requests whose path matches a regular expression as a whole: `["/items/[0-9]+", "item"]`, or "/items/[0-9]+ → item". */
    nameRules?: (string | [pattern: string, name: string])[];
    /** The header that puts each HTTP request into a distributed trace. */
    traceContext?: "w3c" | "b3" | "b3multi" | "jaeger" | "none";
    /** Share of requests whose traces are sampled, from 0 to 1. */
    traceSampling?: number;
  }

  interface BaseScenario {
    /** The link of each user of this scenario. */
    network?: Options["network"];
    /** HTTP/2 for the users of this scenario. */
    http2?: Options["http2"];
    /** Whether the users of this scenario resume their TLS sessions. */
    tlsResumption?: boolean;
  }
}

declare module "k6/http" {
  /** Bytes that are not in memory: a `FileStream` of `onrush/fs`, a `Payload` of `onrush/payload`. */
  export interface BodySource {
    readonly size: number;
  }

  /** What Onrush sends besides what k6 sends. */
  export type FurtherBody = BodySource | ArrayBufferView | import("onrush/http").FormData;

  export function post<RT extends ResponseType | undefined>(
    url: Parameters<typeof get>[0],
    body: FurtherBody,
    params?: RefinedParams<RT> | null,
  ): RefinedResponse<RT>;
  export function put<RT extends ResponseType | undefined>(
    url: Parameters<typeof get>[0],
    body: FurtherBody,
    params?: RefinedParams<RT> | null,
  ): RefinedResponse<RT>;
  export function patch<RT extends ResponseType | undefined>(
    url: Parameters<typeof get>[0],
    body: FurtherBody,
    params?: RefinedParams<RT> | null,
  ): RefinedResponse<RT>;
  export function request<RT extends ResponseType | undefined>(
    method: string,
    url: Parameters<typeof get>[0],
    body: FurtherBody,
    params?: RefinedParams<RT> | null,
  ): RefinedResponse<RT>;
  export function asyncRequest<RT extends ResponseType | undefined>(
    method: string,
    url: Parameters<typeof get>[0],
    body: FurtherBody,
    params?: RefinedParams<RT> | null,
  ): Promise<RefinedResponse<RT>>;

  interface Params {
    /** Throw when the request fails. */
    throw?: boolean;
    /** A client certificate for this request, as PEM. */
    tlsAuth?: { cert: string; key: string; password?: string };
    /** Whether a connection that this request opens may resume a TLS session. */
    tlsResumption?: boolean;
    /** "prior-knowledge": HTTP/2 without TLS. */
    http2?: boolean | "prior-knowledge";
    /** Hash the body of the response while it is received. */
    hash?: "md4" | "md5" | "sha1" | "sha256" | "sha384" | "sha512" | "sha512_224" | "sha512_256" | "ripemd160";
    /** Called with each piece of the body as it is received. */
    onBody?: (piece: ArrayBuffer) => void;
    /** Called with each event of a `text/event-stream` as it is received; false ends the response. */
    onEvent?: (event: ServerSentEvent) => boolean | void;
  }

  /** An event of a stream. */
  export interface ServerSentEvent {
    id: string;
    comment: string;
    name: string;
    data: string;
    /** Milliseconds from the request to its arrival. */
    at: number;
  }
}
