/**
 * HTTP requests.
 *
 * Every request counts in the `http_reqs`, `http_req_*` and `data_*` metrics, each redirect hop on its own. A request that
 * fails (refused connection, timeout, broken answer) returns a response with status 0 and `error` set, and logs a warning;
 * with `throw: true` it throws instead. Invalid arguments have the same effect but are counted nowhere.
 * In init code a script can only make jars, files, URLs and sets of statuses.
 */

import type { Selection } from "k6/html";

/** TLS versions, for the `tlsVersion` option. */
export const TLS_1_0: "tls1.0";
export const TLS_1_1: "tls1.1";
export const TLS_1_2: "tls1.2";
export const TLS_1_3: "tls1.3";

/** What `response.ocsp.status` can be. Onrush reads no stapled answer: it is `unknown` for TLS, else empty. */
export const OCSP_STATUS_GOOD: "good";
export const OCSP_STATUS_REVOKED: "revoked";
export const OCSP_STATUS_SERVER_FAILED: "server_failed";
export const OCSP_STATUS_UNKNOWN: "unknown";
/** What `response.ocsp.revocation_reason` can be. */
export const OCSP_REASON_UNSPECIFIED: "unspecified";
export const OCSP_REASON_KEY_COMPROMISE: "key_compromise";
export const OCSP_REASON_CA_COMPROMISE: "ca_compromise";
export const OCSP_REASON_AFFILIATION_CHANGED: "affiliation_changed";
export const OCSP_REASON_SUPERSEDED: "superseded";
export const OCSP_REASON_CESSATION_OF_OPERATION: "cessation_of_operation";
export const OCSP_REASON_CERTIFICATE_HOLD: "certificate_hold";
export const OCSP_REASON_REMOVE_FROM_CRL: "remove_from_crl";
export const OCSP_REASON_PRIVILEGE_WITHDRAWN: "privilege_withdrawn";
export const OCSP_REASON_AA_COMPROMISE: "aa_compromise";

/** A URL made by `http.url`: requests to it share the tag `name`, whatever the values. */
export interface HttpURL {
  readonly name: string;
  readonly url: string;
  /** With the userinfo masked. */
  readonly clean_url: string;
  clean(): string;
  getURL(): { scheme: string; host: string; path: string; raw_query: string; fragment: string };
}

/** A string, or a URL made by `http.url`. */
export type Address = string | HttpURL;

/**
 * Tag of template literals: ``http.get(http.url`https://host/items/${id}`)`` is tagged with the name
 * `https://host/items/${}`.
 */
export function url(pieces: ReadonlyArray<string>, ...values: unknown[]): HttpURL;

/** A part of a multipart form. */
export interface FileData {
  data: string | ArrayBuffer;
  filename: string;
  content_type: string;
}

/**
 * A file for a form body. By default its name is the time in nanoseconds, and its type is
 * application/octet-stream.
 *
 * @throws when `data` is neither a string nor an ArrayBuffer.
 */
export function file(data: string | ArrayBuffer, filename?: string, contentType?: string): FileData;

/**
 * A body. A string is sent as UTF-8, a buffer or view as its bytes. An object becomes a form: url-encoded with sorted
 * names (lists repeat the name), or multipart/form-data when a value was made by `http.file`.
 */
export type RequestBody = string | ArrayBuffer | ArrayBufferView | BodySource | { [name: string]: unknown } | null;

/** Bytes that are not in memory: a `FileStream` of `onrush/fs`, a `Payload` of `onrush/payload`. k6 has none. */
export interface BodySource {
  readonly size: number;
}

/** A set of statuses made by `expectedStatuses`. */
export interface ExpectedStatuses {}

/** A client certificate and its private key, as PEM. */
export interface TLSAuth {
  /** The certificate, then those of authorities between. */
  cert: string;
  /** RSA, ECDSA or Ed25519. */
  key: string;
  /** Of an encrypted key. */
  password?: string;
}

/**
 * How to send a request and what to do with the answer. Params that hold the same as before (texts, numbers and booleans in
 * plain objects) are compared instead of read again.
 */
export interface Params {
  /** Header fields. `Host` replaces the URL's; an empty `User-Agent` sends none; `Content-Length` is ignored. */
  headers?: { [name: string]: string };
  /** Added to the jar's cookies; with `replace`, in place of those of that name. */
  cookies?: { [name: string]: string | { value: string; replace?: boolean } };
  /** Used in place of this user's jar. */
  jar?: CookieJar | null;
  /** Tags of the samples of this request; `name` sets its name. */
  tags?: { [name: string]: string | number | boolean };
  /** Milliseconds, or text such as `"1m30s"`: for the whole request, redirects and body included. Default: 60 s. */
  timeout?: number | string;
  /** Redirects to follow; 0: none. Default: the `maxRedirects` option. */
  redirects?: number;
  /** Digest authentication with the URL's userinfo. Basic needs nothing but the userinfo. `ntlm` is not supported yet. */
  auth?: "digest" | "ntlm";
  /** Content codings applied to the body, in order: gzip, deflate, br, zstd, a list separated by commas. */
  compression?: string;
  /** By default `text`; `none` reads the body and drops it. */
  responseType?: "text" | "binary" | "none";
  /** Which answers are expected; null: do not judge this request. */
  responseCallback?: ExpectedStatuses | null;
  /** Throw when the request fails. Default: the `throw` option. */
  throw?: boolean;
  /**
   * Not in k6. HTTP/2 without TLS and without asking the server first (h2c by prior knowledge), on every hop that goes to
   * an `http:` URL. An `https:` URL is not affected. The scheme `h2c:` says the same in a URL: `h2c://host/path`.
   */
  http2?: "prior-knowledge";
  /**
   * Not in k6. A client certificate for this request: it is shown to the host of the URL, whatever that asks for, and not
   * to others that redirect it. Connections of another certificate are not used for it. `useTLS` of `onrush/http` says
   * the same for all requests of a user, the option `tlsAuth` for all users by domain.
   */
  tlsAuth?: TLSAuth;
  /**
   * Not in k6. Whether a connection that this request opens may resume a TLS session that the user had, as the option
   * `tlsResumption` says for all requests.
   */
  tlsResumption?: boolean;
  /**
   * Not in k6. Digest of the body: `response.hash` has it in hexadecimal digits, and the body is not kept. The
   * bytes are those that were transferred: content codings are not undone. Only the body of a 2xx answer is
   * digested; others are in `response.body` as usual, and `response.hash` is null.
   */
  hash?: "md4" | "md5" | "sha1" | "sha256" | "sha384" | "sha512" | "sha512_224" | "sha512_256" | "ripemd160";
  /**
   * Not in k6. Gets the body of a 2xx answer piece by piece (128 KiB at most) while it arrives; the body is not kept. Reading
   * waits while the function runs, so a slow one slows the sender down, and shows in `timings.receiving`. If it throws, the
   * request ends and counts as failed. Not with `asyncRequest` and `batch`.
   */
  onBody?: (piece: ArrayBuffer) => void;
  /**
   * Not in k6. Gets each server-sent event of a 2xx answer of the type `text/event-stream` while it arrives; the body is not
   * kept. `false` as its result ends the answer, which is no failure; an exception does too, and is one. `Accept` is
   * `text/event-stream` unless `headers` has it. The metrics `sse_event`, `sse_first_event`, `sse_event_gap` and
   * `sse_event_rate` tell when events came. Not with `asyncRequest` and `batch`.
   */
  onEvent?: (event: ServerSentEvent) => boolean | void;
}

/** A server-sent event, by the rules of the WHATWG: one without a data line is none. */
export interface ServerSentEvent {
  /** Empty when the event had none. */
  id: string;
  /** The last comment before the event's end; empty when there was none. */
  comment: string;
  /** The `event` field; empty when there was none. */
  name: string;
  /** The data lines, joined by line feeds. */
  data: string;
  /**
   * Milliseconds from the request, connecting included, to the arrival of the event at this machine, by the kernel's
   * clock where the connection has it.
   */
  at: number;
}

/** Milliseconds that the steps of a request took. */
export interface Timings {
  /** sending + waiting + receiving. */
  duration: number;
  /** Waiting for a connection. */
  blocked: number;
  /** Name lookup; k6 always has 0 here. */
  looking_up: number;
  /** 0 on a reused connection. */
  connecting: number;
  /** 0 on a reused connection. */
  tls_handshaking: number;
  sending: number;
  /** Until the first byte reached this machine. */
  waiting: number;
  receiving: number;
}

/** A cookie that the answer set. */
export interface ResponseCookie {
  name: string;
  value: string;
  domain: string;
  path: string;
  http_only: boolean;
  secure: boolean;
  max_age: number;
  /** Milliseconds since 1970; -6795364578871 when it has no date, as in k6. */
  expires: number;
}

/** An answer. Onrush makes a property when the script first reads it; scripts may overwrite it. */
export interface Response {
  remote_ip: string;
  remote_port: number;
  /** Where the answer came from, after redirects. */
  url: string;
  /** 0 when the request failed. */
  status: number;
  status_text: string;
  /** `HTTP/1.1`, `HTTP/1.0`, or `HTTP/2.0` with TLS servers that offer it; empty when the request failed. */
  proto: string;
  /** Canonical names; fields of the same name are joined by `, `. */
  headers: { [name: string]: string };
  cookies: { [name: string]: ResponseCookie[] };
  /** By `responseType`; null when there is none: a failed request, a discarded or streamed body, 204 and 304. */
  body: string | ArrayBuffer | null;
  /** The digest that `params.hash` asked for; null when no body was digested. Absent without `params.hash`. */
  hash?: string | null;
  timings: Timings;
  /** `tls1.2`, `tls1.3`, or empty. */
  tls_version: string;
  tls_cipher_suite: string;
  ocsp: {
    produced_at: number;
    this_update: number;
    next_update: number;
    revoked_at: number;
    revocation_reason: string;
    status: string;
  };
  error: string;
  /**
   * 0, or k6's code: 1050 timeout, 1212 refused, 1701 a body that does not decode, 1000 + status for 4xx and 5xx, …
   * Not in k6: 1710, a decoded body that exceeds the options `maxDecodedBody` (100 MiB) or `maxDecodedRatio` (1,000 times the
   * bytes received, from 10 MiB on), or the rest of the user's memory (`--vu-memory-limit`).
   */
  error_code: number;
  /** The request; null when the arguments were refused. */
  request: {
    method: string;
    url: string;
    headers: { [name: string]: string[] };
    body: string;
    cookies: { [name: string]: { name: string; value: string; replace: boolean }[] };
  } | null;
  /**
   * The body as JSON, or the part of it that a gjson path selects: `items.0.id`, `items.#`, `items.#.id`,
   * `items.#(id==3).name`, `items.#(id>3)#.name`, `na*e`, `a\\.b`, `items|0`, `items.@reverse`. Multipaths, literals and
   * other modifiers are not supported yet and throw.
   *
   * @throws when there is no body, or, without a path, when it is not JSON.
   */
  json(selector?: string): any;
  /** The body as an HTML document, or what a selector selects in it (see `k6/html`). */
  html(selector?: string): Selection;
  /**
   * Sends the form that a selector selects (`form`), by the button that another selects (`[type="submit"]`). `fields`
   * replaces and adds values; `params` are those of the request. A form sent by GET has its fields in the URL's query.
   *
   * @throws when there is no such form.
   */
  submitForm(args?: {
    formSelector?: string;
    submitSelector?: string;
    fields?: { [name: string]: unknown };
    params?: Params | null;
  }): Response;
  /**
   * Gets what the first element that a selector selects (`a[href]`) leads to.
   *
   * @throws when there is no such element, or it has no `href`.
   */
  clickLink(args?: { selector?: string; params?: Params | null }): Response;
}

/** A GET request. */
export function get(url: Address, params?: Params | null): Response;
/** A HEAD request. */
export function head(url: Address, params?: Params | null): Response;
/** A POST request. */
export function post(url: Address, body?: RequestBody, params?: Params | null): Response;
/** A PUT request. */
export function put(url: Address, body?: RequestBody, params?: Params | null): Response;
/** A PATCH request. */
export function patch(url: Address, body?: RequestBody, params?: Params | null): Response;
/** A DELETE request. */
export function del(url: Address, body?: RequestBody, params?: Params | null): Response;
/** An OPTIONS request. */
export function options(url: Address, body?: RequestBody, params?: Params | null): Response;
/** A request with any method, sent as written. */
export function request(method: string, url: Address, body?: RequestBody, params?: Params | null): Response;

/** Like `request`, without waiting. Rejects only when `request` would throw. */
export function asyncRequest(
  method: string,
  url: Address,
  body?: RequestBody,
  params?: Params | null,
): Promise<Response>;

/** One request of a batch. */
export type BatchItem =
  | Address
  | [method: string, url: Address, body?: RequestBody, params?: Params | null]
  | { method?: string; url: Address; body?: RequestBody; params?: Params | null };

/**
 * Several requests at once, `batch` of them at a time and `batchPerHost` to the same host. The answers come in the shape
 * of the argument.
 */
export function batch(requests: BatchItem[]): Response[];
export function batch<T extends { [name: string]: BatchItem }>(requests: T): { [name in keyof T]: Response };

/** Cookies by domain and path. */
export class CookieJar {
  /** An empty jar, for `params.jar`. */
  constructor();
  /** Values by name of the cookies that go to this URL. */
  cookiesForURL(url: string): { [name: string]: string[] };
  /**
   * Stores a cookie as if this URL had set it. A foreign domain is ignored, and so is a public suffix (`co.uk`), unlike in k6.
   *
   * @throws when the URL or the date cannot be parsed, or when name or value holds a line break or another control character.
   */
  set(
    url: string,
    name: string,
    value: string,
    details?: {
      path?: string;
      domain?: string;
      /** `Wed, 21 Oct 2037 07:28:00 GMT` */
      expires?: string;
      max_age?: number;
      secure?: boolean;
      http_only?: boolean;
    },
  ): boolean;
  /** Removes the cookies that go to this URL. */
  clear(url: string): void;
  /** Removes one cookie that goes to this URL. */
  delete(url: string, name: string): void;
}

/** This user's jar; emptied before each iteration unless `noCookiesReset` is set. */
export function cookieJar(): CookieJar;

/**
 * A set of statuses: numbers, and ranges with both ends included.
 *
 * @throws when there is no argument, or one is neither.
 */
export function expectedStatuses(...statuses: (number | { min: number; max: number })[]): ExpectedStatuses;

/** Which answers of all further requests are expected (at first 200-399); null: judge none. */
export function setResponseCallback(expected: ExpectedStatuses | null): void;

declare const http: {
  TLS_1_0: typeof TLS_1_0;
  TLS_1_1: typeof TLS_1_1;
  TLS_1_2: typeof TLS_1_2;
  TLS_1_3: typeof TLS_1_3;
  url: typeof url;
  file: typeof file;
  get: typeof get;
  head: typeof head;
  post: typeof post;
  put: typeof put;
  patch: typeof patch;
  del: typeof del;
  options: typeof options;
  request: typeof request;
  asyncRequest: typeof asyncRequest;
  batch: typeof batch;
  CookieJar: typeof CookieJar;
  cookieJar: typeof cookieJar;
  expectedStatuses: typeof expectedStatuses;
  setResponseCallback: typeof setResponseCallback;
};
export default http;
