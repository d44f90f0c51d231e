/**
 * The API of the extension xk6-fasthttp, over the HTTP of `k6/http`: scripts written for it run unchanged.
 *
 * Requests work like those of `k6/http`: all timings, `http_req_failed`, data counters, the cookies of the virtual user,
 * decompression, options of the run such as `hosts` and `dns`. docs/coming-from/fasthttp.md has a table of the differences.
 */
import type { Params, RequestBody, Response as HttpResponse } from "k6/http";

/** A response of `k6/http`. Binary bodies can also be read like an array: `body.length`, `body[i]`. */
export type Response = Omit<HttpResponse, "body"> & {
  body: string | (ArrayBuffer & { readonly length: number; readonly [index: number]: number }) | null;
};

/** How a client connects. Times are seconds, fractions too; 0: no limit. */
export interface ClientConfig {
  /** Limit for connecting, without TLS. Default 5, also for 0. */
  dial_timeout?: number;
  /** A proxy for every host: `[user:password@]host:port`, or with `socks5://`. Default: none but those of the environment. */
  proxy?: string;
  /** A connection older than this carries no further request. Default 0. */
  max_conn_duration?: number;
  /** User-Agent. Default: that of the run. */
  user_agent?: string;
  /** Has no effect: buffers belong to the worker and headers may be 64 KiB long. */
  read_buffer_size?: number;
  /** Has no effect, see `read_buffer_size`. */
  write_buffer_size?: number;
  /** Limit from the end of the request to the end of the response. Default 0. */
  read_timeout?: number;
  /** Limit for sending the request. Default 0. */
  write_timeout?: number;
  /** Has no effect, because a virtual user waits for each response and so has one connection a host. */
  max_conns_per_host?: number;
  /** TLS. */
  tls_config?: {
    /** Accept any certificate. Default false, or the option `insecureSkipTLSVerify`. */
    insecure_skip_verify?: boolean;
    /** Key of the client's certificate: PEM text, or the path of a PEM file. */
    private_key?: string;
    /** The client's certificate: PEM text, or the path of a PEM file. */
    certificate?: string;
  };
}

/** Options of a request, with the params of `k6/http` (`tags`, `cookies`, `timeout`, `redirects` …). */
export interface RequestOptions extends Omit<Params, "headers"> {
  /** Throw when the request fails. Default: the option `throw`. */
  throw?: boolean;
  /** Close the connection after the response. Default false. */
  disable_keep_alive?: boolean;
  /** The Host header, when it is not that of the URL. */
  host?: string;
  /** Headers. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Body; anything that `http.post` takes. Bytes are read when they are sent, and not copied. GET and HEAD send none. Other
   * methods send the Content-Type `application/octet-stream` unless the headers or a form give another.
   */
  body?: RequestBody | FileStream | null;
  /** Form of `response.body`. Default `"text"`, or `"none"` with the option `discardResponseBodies`. */
  response_type?: "text" | "binary" | "none";
}

/**
 * A request, made once and sent often, by any method. Without `timeout` only the limits of its client apply. Redirects are
 * followed only with `redirects`.
 */
export class Request {
  /** @throws TypeError for invalid options. */
  constructor(url: string, options?: RequestOptions);
  /** Scripts may assign these; `headers` only as a whole. */
  url: string;
  throw?: boolean;
  disable_keep_alive?: boolean;
  host?: string;
  headers?: Readonly<Record<string, string>>;
  body?: RequestBody | FileStream | null;
  response_type?: "text" | "binary" | "none";
}

/**
 * A client with its own connections in each virtual user. Make it in init code. Its functions wait for the response.
 *
 * @example
 * const client = new Client({ tls_config: { insecure_skip_verify: true } });
 * const request = new Request("https://host/", { headers: { "Content-Type": "text/plain" }, body: "hello" });
 * export default function () { checkstatus(200, client.post(request)); }
 */
export class Client {
  /** @throws TypeError for an invalid config. */
  constructor(config?: ClientConfig);
  get(request: Request): Response;
  post(request: Request): Response;
  put(request: Request): Response;
  patch(request: Request): Response;
  delete(request: Request): Response;
  options(request: Request): Response;
  /** Not in the extension. */
  head(request: Request): Response;
}

/** A file as a body, read while it is sent; the same as in `onrush/fs`. */
export class FileStream {
  /** Relative paths start at the module that calls. */
  constructor(path: string);
  /** Absolute path. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** A part of it. */
  slice(start?: number, end?: number): FileStream;
}

/** Whether the response has this status; counted as a check of the name `check status is …`, with these tags. */
export function checkstatus(
  expected: number,
  response: Response | null,
  tags?: Record<string, string | number | boolean>,
): boolean;

declare const fasthttp: {
  Client: typeof Client;
  Request: typeof Request;
  FileStream: typeof FileStream;
  checkstatus: typeof checkstatus;
};
export default fasthttp;
