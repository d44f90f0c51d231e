// Signatures of requests for AWS, version 4, as scripts import them from https://jslib.k6.io/aws/VERSION/aws.js or signature.js.
// The clients of single services are refused by name: a signed request of k6/http does the same.
import { hmac, sha256 } from 'k6/crypto';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const UNSIGNED = 'UNSIGNED-PAYLOAD';
const LONGEST_SECONDS = 7 * 24 * 3600;
/** Headers that proxies may change, or that are set after signing. */
const UNSIGNED_HEADERS = ['authorization', 'cache-control', 'connection', 'expect', 'from', 'keep-alive', 'max-forwards', 'pragma', 'referer', 'te',
  'trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'x-amzn-trace-id'];

/** What a config of a script is missing. */
export class InvalidAWSConfigError extends Error {
  get name() {
    return 'InvalidAWSConfigError';
  }
}

/** An option that signing cannot do without. */
export class InvalidSignatureError extends Error {
  get name() {
    return 'InvalidSignatureError';
  }
}

export class AWSConfig {
  constructor({ region, accessKeyId, secretAccessKey, sessionToken, endpoint } = {}) {
    for (const [name, value] of Object.entries({ region, accessKeyId, secretAccessKey })) {
      if (typeof value !== 'string' || value === '') {
        throw new InvalidAWSConfigError(`invalid AWS ${name}: found ${JSON.stringify(value)}, expected a text that is not empty`);
      }
    }
    Object.assign(this, { region, accessKeyId, secretAccessKey, sessionToken });
    this.endpoint = endpoint ?? new Endpoint('https://amazonaws.com');
    if (typeof this.endpoint === 'string') this.endpoint = new Endpoint(this.endpoint);
  }

  /** From AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. */
  static fromEnvironment(options = {}) {
    return new AWSConfig({
      region: __ENV.AWS_REGION,
      accessKeyId: __ENV.AWS_ACCESS_KEY_ID,
      secretAccessKey: __ENV.AWS_SECRET_ACCESS_KEY,
      sessionToken: __ENV.AWS_SESSION_TOKEN,
      ...options,
    });
  }
}

/** A scheme and a host. */
export class Endpoint {
  constructor(address) {
    const parts = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[^\]]*\]|[^/:?#]+)(?::(\d+))?/i.exec(address);
    if (!parts) throw new TypeError(`an endpoint needs a host: found ${JSON.stringify(address)}`);
    this.protocol = parts[1] ?? 'https';
    this.hostname = parts[2];
    this.port = parts[3] === undefined ? undefined : Number(parts[3]);
  }

  get host() {
    return this.port === undefined ? this.hostname : `${this.hostname}:${this.port}`;
  }

  get href() {
    return `${this.protocol}://${this.host}`;
  }

  toString() {
    return this.href;
  }

  copy() {
    return new Endpoint(this.href);
  }
}

export class SignatureV4 {
  /** `service`, `region`, `credentials`; `uriEscapePath` escapes the path once more (not for S3), `applyChecksum` adds its header. */
  constructor({ service, region, credentials, uriEscapePath = true, applyChecksum = true } = {}) {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials ?? {};
    for (const [name, value] of Object.entries({ service, region, accessKeyId, secretAccessKey })) {
      if (!value) throw new InvalidSignatureError(`SignatureV4 needs the option ${name}`);
    }
    Object.assign(this, { service, region, uriEscapePath, applyChecksum });
    this.credentials = { accessKeyId, secretAccessKey, sessionToken };
  }

  /** The request with its signature in headers. */
  sign(request, options = {}) {
    const scope = this.scope(options);
    const prepared = prepare(request);
    const headers = { ...prepared.headers, 'x-amz-date': scope.time };
    if (this.credentials.sessionToken) headers['x-amz-security-token'] = this.credentials.sessionToken;
    const body = headers['x-amz-content-sha256'] ?? sha256(request.body ?? '', 'hex');
    if (options.applyChecksum ?? request.applyChecksum ?? this.applyChecksum) headers['x-amz-content-sha256'] = body;
    const names = signable(headers, options);
    const signature = this.signature(scope, { ...prepared, headers }, names, body, options);
    headers.authorization = `${ALGORITHM} Credential=${this.credentials.accessKeyId}/${scope.text}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return { ...request, headers, query: prepared.query, url: address(prepared) };
  }

  /** The request with its signature in the query, which holds for `expiresIn` seconds. */
  presign(request, options = {}) {
    const { expiresIn = 3600 } = options;
    if (!(expiresIn >= 1 && expiresIn <= LONGEST_SECONDS)) {
      throw new InvalidSignatureError(`expiresIn: found ${expiresIn}, expected seconds from 1 to ${LONGEST_SECONDS}, which is seven days`);
    }
    const scope = this.scope(options);
    const prepared = prepare(request);
    const { 'x-amz-content-sha256': known, ...headers } = prepared.headers;
    const names = signable(headers, options);
    Object.assign(prepared.query, {
      'X-Amz-Algorithm': ALGORITHM,
      'X-Amz-Credential': `${this.credentials.accessKeyId}/${scope.text}`,
      'X-Amz-Date': scope.time,
      'X-Amz-Expires': String(expiresIn),
      'X-Amz-SignedHeaders': names.join(';'),
    });
    if (this.credentials.sessionToken) prepared.query['X-Amz-Security-Token'] = this.credentials.sessionToken;
    const body = known ?? (scope.service === 's3' ? UNSIGNED : sha256(request.body ?? '', 'hex'));
    prepared.query['X-Amz-Signature'] = this.signature(scope, { ...prepared, headers }, names, body, options);
    return { ...request, headers, query: prepared.query, url: address(prepared) };
  }

  scope({ signingDate = new Date(), signingService = this.service, signingRegion = this.region }) {
    const time = new Date(signingDate).toISOString().replace(/[-:]|\.\d+/g, '');
    const day = time.slice(0, 8);
    return { time, day, region: signingRegion, service: signingService, text: `${day}/${signingRegion}/${signingService}/aws4_request` };
  }

  signature(scope, request, names, body, { uriEscapePath = this.uriEscapePath }) {
    const path = uriEscapePath ? request.path.split('/').map(escaped).join('/') : request.path;
    const headers = names.map((name) => `${name}:${String(request.headers[name]).trim().replace(/\s+/g, ' ')}\n`).join('');
    const canonical = [request.method, path, queryOf(request.query), headers, names.join(';'), body].join('\n');
    const text = [ALGORITHM, scope.time, scope.text, sha256(canonical, 'hex')].join('\n');
    const key = [scope.day, scope.region, scope.service, 'aws4_request'].reduce(
      (key, part) => hmac('sha256', key, part, 'binary'),
      `AWS4${this.credentials.secretAccessKey}`,
    );
    return hmac('sha256', key, text, 'hex');
  }
}

/** A script's request with its path, query and headers in one form. */
function prepare(request) {
  const endpoint = typeof request.endpoint === 'string' ? new Endpoint(request.endpoint) : request.endpoint ?? request;
  const host = endpoint.host ?? (endpoint.port === undefined ? endpoint.hostname : `${endpoint.hostname}:${endpoint.port}`);
  if (!host) throw new InvalidSignatureError('a request to be signed needs a hostname or an endpoint');
  const [path, inPath = ''] = String(request.path ?? '/').split(/\?(.*)/s);
  const query = { ...request.query };
  for (const part of inPath.split('&').filter(Boolean)) {
    const [name, value = ''] = part.split(/=(.*)/s).map(decodeURIComponent);
    query[name] = name in query ? [].concat(query[name], value) : value;
  }
  const headers = { host };
  for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value;
  const protocol = String(endpoint.protocol ?? 'https').replace(/:?\/?\/?$/, '');
  return { method: request.method, protocol, host, path: path.startsWith('/') ? path : `/${path}`, query, headers };
}

function signable(headers, { unsignableHeaders, signableHeaders }) {
  const has = (set, name) => set !== undefined && [...set].includes(name);
  const names = Object.keys(headers).filter((name) =>
    has(signableHeaders, name) || !(UNSIGNED_HEADERS.includes(name) || /^(proxy|sec)-/.test(name) || has(unsignableHeaders, name)));
  return names.sort();
}

/** RFC 3986's unreserved characters stay. */
function escaped(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** In the order of the escaped names, then of the values. */
function queryOf(query) {
  const parts = Object.entries(query).flatMap(([name, values]) =>
    [].concat(values).map((value) => [escaped(name), escaped(String(value ?? ''))]));
  const compare = (one, other) => (one < other ? -1 : Number(one > other));
  parts.sort((one, other) => compare(one[0], other[0]) || compare(one[1], other[1]));
  return parts.map((part) => part.join('=')).join('&');
}

function address({ protocol, host, path, query }) {
  const text = queryOf(query);
  return `${protocol}://${host}${path}${text && `?${text}`}`;
}

const refused = (name) => class {
  constructor() {
    throw new TypeError(`${name} of k6's aws library is not offered: sign the request with SignatureV4 and send it with k6/http`);
  }
};
export const S3Client = refused('S3Client');
export const SecretsManagerClient = refused('SecretsManagerClient');
export const SystemsManagerClient = refused('SystemsManagerClient');
export const KMSClient = refused('KMSClient');
export const SQSClient = refused('SQSClient');
export const KinesisClient = refused('KinesisClient');
export const EventBridgeClient = refused('EventBridgeClient');
export const LambdaClient = refused('LambdaClient');
