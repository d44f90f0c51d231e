// k6's libraries at their addresses, of any version.

declare module "https://jslib.k6.io/k6-utils/*" {
  /** As `check` of k6, with values and conditions that may be promises; the result is a promise when one of them is. */
  export function check(value: unknown, conditions: Record<string, unknown>, tags?: Record<string, string>): boolean | Promise<boolean>;
  /** A whole number, both ends included. */
  export function randomIntBetween(min: number, max: number): number;
  export function randomItem<T>(array: ArrayLike<T>): T;
  export function randomString(length: number, charset?: string): string;
  /** With `secure`, of the system's random bytes. */
  export function uuidv4(secure?: boolean): string;
  export function findBetween(content: string, left: string, right: string, repeat?: false): string;
  export function findBetween(content: string, left: string, right: string, repeat: true): string[];
  export function normalDistributionStages(maxVus: number, durationSeconds: number, numberOfStages?: number): { duration: string; target: number }[];
  /** In milliseconds. */
  export function parseDuration(text: string): number;
  export function getCurrentStageIndex(): number;
  export function tagWithCurrentStageIndex(): void;
  export function tagWithCurrentStageProfile(): void;
}

declare module "https://jslib.k6.io/k6-summary/*" {
  /** `data` is what handleSummary is given. */
  export function textSummary(data: object, options?: { indent?: string; enableColors?: boolean; sortByName?: boolean }): string;
  export function jUnit(data: object, options?: { name?: string; classname?: string }): string;
  export function humanizeValue(value: number, metric: object, timeUnit?: string): string;
}

declare module "https://jslib.k6.io/k6chaijs/*" {
  /** Chai's expectations; each is a check. */
  export type Assertion = any;
  export class AssertionError extends Error {}
  export const config: Record<string, unknown>;
  /** A group; false when an expectation inside did not hold. */
  export function describe(name: string, run: () => void): boolean;
  export function expect(value: unknown, message?: string): Assertion;
  export const chai: { expect: typeof expect; config: typeof config; AssertionError: typeof AssertionError; [name: string]: any };
  export default chai;
}

declare module "https://jslib.k6.io/httpx/*" {
  import { RefinedResponse, ResponseType } from "k6/http";
  type Answer = RefinedResponse<ResponseType | undefined>;
  type Call = (url: any, body?: any, params?: object) => Answer;
  type AsyncCall = (url: any, body?: any, params?: object) => Promise<Answer>;

  /** A request for `batch`. */
  export class Request {
    constructor(method: string, url: any, body?: any, params?: object);
  }
  class OfMethod extends Request {
    constructor(url: any, body?: any, params?: object);
  }
  export { OfMethod as Get, OfMethod as Post, OfMethod as Put, OfMethod as Patch, OfMethod as Delete, OfMethod as Head };
  export { OfMethod as Options, OfMethod as Trace };

  export class Httpx {
    /** Any other param of k6/http goes to all requests, too. */
    constructor(options?: { baseURL?: string; headers?: Record<string, string>; tags?: Record<string, string>; timeout?: number; [param: string]: unknown });
    setBaseUrl(baseURL: string): void;
    addHeader(name: string, value: string): void;
    addHeaders(headers: Record<string, string>): void;
    removeHeader(name: string): void;
    clearHeader(name: string): void;
    addTag(name: string, value: string): void;
    addTags(tags: Record<string, string>): void;
    removeTag(name: string): void;
    clearTag(name: string): void;
    request(method: string, url: any, body?: any, params?: object): Answer;
    asyncRequest(method: string, url: any, body?: any, params?: object): Promise<Answer>;
    batch(requests: Request[], params?: object): Answer[];
    get: Call;
    post: Call;
    put: Call;
    patch: Call;
    delete: Call;
    del: Call;
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
  }
  export default Httpx;
}

declare module "https://jslib.k6.io/papaparse/*" {
  /** Of texts; files, URLs and streams are not offered. */
  export function parse(text: string, options?: Record<string, unknown>): { data: any[]; errors: any[]; meta: Record<string, any> };
  export function unparse(rows: unknown, options?: Record<string, unknown>): string;
  const Papa: { parse: typeof parse; unparse: typeof unparse };
  export default Papa;
}

declare module "https://jslib.k6.io/totp/*" {
  /** Passwords of RFC 6238 with HMAC-SHA-1 and steps of 30 s. */
  export class TOTP {
    /** @param secret in base32. */
    constructor(secret: string, digits?: number);
    gen(step?: number): Promise<string>;
    verify(password: string): Promise<boolean>;
  }
}

declare module "https://jslib.k6.io/aws/*" {
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
    static fromEnvironment(options?: Partial<AWSConfigOptions>): AWSConfig;
    region: string;
    accessKeyId: string;
    secretAccessKey: string;
    sessionToken?: string;
    endpoint: Endpoint;
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

  /** Where it goes: an endpoint, or protocol and hostname. */
  export interface UnsignedRequest {
    method: string;
    endpoint?: Endpoint | string;
    protocol?: string;
    hostname?: string;
    port?: number;
    path?: string;
    query?: Record<string, string | string[]>;
    headers?: Record<string, string>;
    body?: string | ArrayBuffer;
    applyChecksum?: boolean;
  }
  export interface SignedRequest extends UnsignedRequest {
    /** For k6/http. */
    url: string;
    headers: Record<string, string>;
  }
  export interface SignOptions {
    signingDate?: Date;
    signingService?: string;
    signingRegion?: string;
    uriEscapePath?: boolean;
    applyChecksum?: boolean;
    unsignableHeaders?: Iterable<string>;
    signableHeaders?: Iterable<string>;
  }
  export class SignatureV4 {
    /** `uriEscapePath: false` for S3. */
    constructor(options: { service: string; region: string; credentials: Credentials; uriEscapePath?: boolean; applyChecksum?: boolean });
    /** The signature goes into headers. */
    sign(request: UnsignedRequest, options?: SignOptions): SignedRequest;
    /** The signature goes into the query and holds for `expiresIn` seconds, 3600 unless said otherwise. */
    presign(request: UnsignedRequest, options?: SignOptions & { expiresIn?: number }): SignedRequest;
  }

  /** Not offered: its constructor throws. Sign the request with SignatureV4. */
  class Refused {
    private constructor();
  }
  export { Refused as S3Client, Refused as SecretsManagerClient, Refused as SystemsManagerClient, Refused as KMSClient };
  export { Refused as SQSClient, Refused as KinesisClient, Refused as EventBridgeClient, Refused as LambdaClient };
}
