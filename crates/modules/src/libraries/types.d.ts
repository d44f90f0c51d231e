// k6's libraries at their addresses, with the names of their latest version that is built in.

declare module "https://jslib.k6.io/k6-utils/*" {
  /** As `check` of k6, with values and conditions that may be promises; the result is a promise when one of them is. From 1.5.0 on. */
  export function check(value: unknown, conditions: Record<string, unknown>, tags?: Record<string, string>): boolean | Promise<boolean>;
  /** A whole number, both ends included. */
  export function randomIntBetween(min: number, max: number): number;
  export function randomItem<T>(array: ArrayLike<T>): T;
  export function randomString(length: number, charset?: string): string;
  /** With `secure`, of the system's random bytes. */
  export function uuidv4(secure?: boolean): string;
  /** null when there is nothing; '' in 1.1.0. */
  export function findBetween(content: string, left: string, right: string, repeat?: false): string | null;
  export function findBetween(content: string, left: string, right: string, repeat: true): string[] | null;
  export function normalDistributionStages(maxVus: number, durationSeconds: number, numberOfStages?: number): { duration: string; target: number }[];
  /** In milliseconds. */
  export function parseDuration(text: string): number;
  export function getCurrentStageIndex(): number;
  export function tagWithCurrentStageIndex(): void;
  export function tagWithCurrentStageProfile(): void;
}

declare module "https://jslib.k6.io/k6-summary/*" {
  /** `data` is what handleSummary is given. */
  export function textSummary(data: object, options?: { indent?: string; enableColors?: boolean; summaryTimeUnit?: string; summaryTrendStats?: string[] }): string;
  export function jUnit(data: object, options?: { name?: string; classname?: string }): string;
  export function humanizeValue(value: number, metric: object, timeUnit?: string): string;
}

declare module "https://jslib.k6.io/k6chaijs/*" {
  /** Chai's expectations; each is a check. */
  export type Assertion = any;
  /** A group; false when an expectation inside did not hold. */
  export function describe(name: string, run: () => void): boolean;
  export function expect(value: unknown, message?: string): Assertion;
  /** Chai's own: `assert`, `util`, `use` for plug-ins; `config` has `aggregateChecks`, `logFailures`, and from 4.5.0.1 on `exitOnError`. */
  export const chai: { expect: typeof expect; config: Record<string, unknown>; AssertionError: new (message?: string) => Error; [name: string]: any };
  export default chai;
}

declare module "https://jslib.k6.io/k6-testing/*" {
  /** What can be asked of a value. One that does not hold ends the test (exit code 108), unless it is soft. */
  export interface Expectations {
    /** The opposite. */
    readonly not: Expectations;
    toBe(expected: unknown): void;
    toBeCloseTo(expected: number, precision?: number): void;
    toBeDefined(): void;
    toBeFalsy(): void;
    toBeGreaterThan(expected: number | bigint): void;
    toBeGreaterThanOrEqual(expected: number | bigint): void;
    toBeInstanceOf(expected: Function): void;
    toBeLessThan(expected: number | bigint): void;
    toBeLessThanOrEqual(expected: number | bigint): void;
    toBeNaN(): void;
    toBeNull(): void;
    toBeTruthy(): void;
    toBeUndefined(): void;
    toContain(expected: unknown): void;
    toContainEqual(expected: unknown): void;
    toEqual(expected: unknown): void;
    toHaveLength(expected: number): void;
    toHaveProperty(keyPath: string, expected?: unknown): void;
  }
  export interface ExpectConfig {
    soft: boolean;
    softMode?: "throw" | "fail";
    colorize: boolean;
    display: "pretty" | "inline";
    timeout: number;
    interval: number;
    assertFn?: (holds: boolean, message: string, soft?: boolean, softMode?: string) => void;
  }
  export const expect: {
    (value: unknown, message?: string): Expectations;
    /** Goes on when an expectation does not hold. */
    soft(value: unknown, message?: string): Expectations;
    configure(config: Partial<ExpectConfig>): typeof expect;
    readonly config: ExpectConfig;
  };
  export function colorize(text: string, color: string): string;
}

declare module "https://jslib.k6.io/httpx/*" {
  import { RefinedResponse, ResponseType } from "k6/http";
  type Answer = RefinedResponse<ResponseType | undefined>;
  type Call = (url: any, body?: any, params?: object) => Answer;
  type AsyncCall = (url: any, body?: any, params?: object) => Promise<Answer>;

  /** A request for `batch`. */
  export class Request {
    /** `params.body` is the body. */
    constructor(method: string, url: any, params?: object);
    addHeader(name: string, value: string): this;
    addTag(name: string, value: string): this;
  }
  class OfMethod extends Request {
    constructor(url: any, params?: object);
  }
  export { OfMethod as Get, OfMethod as Post, OfMethod as Put, OfMethod as Patch, OfMethod as Delete, OfMethod as Head };
  export { OfMethod as Options, OfMethod as Trace, OfMethod as Connect };

  export class Httpx {
    /** Any other param of k6/http goes to all requests, too. */
    constructor(options?: { baseURL?: string; headers?: Record<string, string>; tags?: Record<string, string>; timeout?: number; errorMetric?: { add(value: boolean): unknown }; errorMetricCondition?: (response: Answer) => boolean; [param: string]: unknown });
    setBaseUrl(baseURL: string): void;
    addHeader(name: string, value: string): void;
    addHeaders(headers: Record<string, string>): void;
    clearHeader(name: string): void;
    addTag(name: string, value: string): void;
    addTags(tags: Record<string, string>): void;
    clearTag(name: string): void;
    request(method: string, url: any, body?: any, params?: object): Answer;
    asyncRequest(method: string, url: any, body?: any, params?: object): Promise<Answer>;
    execute(request: Request): Answer;
    batch(requests: (Request | any[])[], params?: object): Answer[];
    /** Of the last request, or of the last batch. */
    lastRequest: { responseObject: any; responseChainDuration: number | null };
    readonly lastRequestChainDuration: number | null;
    connect: Call;
    get: Call;
    post: Call;
    put: Call;
    patch: Call;
    delete: Call;
    head: Call;
    options: Call;
    trace: Call;
    asyncGet: AsyncCall;
    asyncPost: AsyncCall;
    asyncPut: AsyncCall;
    asyncPatch: AsyncCall;
    asyncDelete: AsyncCall;
    asyncHead: AsyncCall;
    asyncOptions: AsyncCall;
    asyncTrace: AsyncCall;
    asyncConnect: AsyncCall;
  }
}

declare module "https://jslib.k6.io/papaparse/*" {
  /** Of texts; files, URLs and streams are not offered. */
  export function parse(text: string, options?: Record<string, unknown>): { data: any[]; errors: any[]; meta: Record<string, any> };
  export function unparse(rows: unknown, options?: Record<string, unknown>): string;
  const Papa: { parse: typeof parse; unparse: typeof unparse; [name: string]: any };
  export default Papa;
}

declare module "https://jslib.k6.io/totp/*" {
  /** Passwords of RFC 6238 with HMAC-SHA-1. */
  export class TOTP {
    /** @param secret in base32. */
    constructor(secret: string, digits?: number);
    /** The password of now. @param period seconds of a step, 30. @param skew seconds that the clock is ahead. */
    gen(period?: number, skew?: number): Promise<string>;
    verify(password: string, period?: number): Promise<boolean>;
  }
}

declare module "https://jslib.k6.io/aws/*/signature.js" {
  export class InvalidAWSConfigError extends Error {}
  export class InvalidSignatureError extends Error {}

  export interface Credentials {
    accessKeyId: string;
    secretAccessKey: string;
    sessionToken?: string;
  }
  export interface AWSConfigOptions extends Credentials {
    region: string;
    endpoint?: Endpoint | string;
  }
  export class AWSConfig implements Credentials {
    constructor(options: AWSConfigOptions);
    /** From AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of `__ENV`. */
    static fromEnvironment(options?: { endpoint?: Endpoint | string }): AWSConfig;
    region: string;
    accessKeyId: string;
    secretAccessKey: string;
    sessionToken?: string;
    endpoint?: Endpoint;
  }
  export class Endpoint {
    constructor(address: string);
    protocol: string;
    hostname: string;
    port?: number;
    readonly host: string;
    readonly href: string;
    copy(): Endpoint;
  }

  export interface UnsignedRequest {
    method: string;
    endpoint: Endpoint;
    path: string;
    query?: Record<string, string | string[]>;
    /** Signing adds to them. */
    headers: Record<string, string>;
    body?: string | ArrayBuffer;
  }
  export interface SignedRequest extends UnsignedRequest {
    /** For k6/http. */
    url: string;
    headers: Record<string, string>;
  }
  export interface SignOptions {
    /** Numbers are seconds. */
    signingDate?: Date | number | string;
    signingService?: string;
    signingRegion?: string;
    unsignableHeaders?: Set<string>;
    signableHeaders?: Set<string>;
  }
  export class SignatureV4 {
    /** `uriEscapePath: false` for S3. */
    constructor(options: { service: string; region: string; credentials: Credentials; uriEscapePath?: boolean; applyChecksum?: boolean });
    /** The signature goes into headers. */
    sign(request: UnsignedRequest, options?: SignOptions): SignedRequest;
    /** The signature goes into the query and holds for `expiresIn` seconds, 3600 unless said otherwise. */
    presign(request: UnsignedRequest, options?: SignOptions & { expiresIn?: number }): SignedRequest;
  }
}

declare module "https://jslib.k6.io/http-instrumentation-tempo/*" {
  import http from "k6/http";

  export interface TempoOptions {
    /** The header: `traceparent`, or `uber-trace-id`. */
    propagator?: "w3c" | "jaeger";
    /** The share of requests that are sampled, from 0 to 1. */
    sampling?: number;
  }
  /** The functions of `k6/http` that send a request, each with a trace context. */
  export class Client {
    constructor(options?: TempoOptions);
    get: typeof http.get;
    head: typeof http.head;
    post: typeof http.post;
    put: typeof http.put;
    patch: typeof http.patch;
    del: typeof http.del;
    options: typeof http.options;
    request: typeof http.request;
    asyncRequest: typeof http.asyncRequest;
  }
  /** Replaces these functions in the default export of `k6/http`. */
  export function instrumentHTTP(options?: TempoOptions): void;
  const tempo: { Client: typeof Client; instrumentHTTP: typeof instrumentHTTP };
  export default tempo;
}
