// aws, signature.js: what signing is made of, by the names that scripts import. Signatures follow AWS's specification of version 4;
// where k6's file leaves it (a host without its port, a path of `//` to `/`), this file does the same.
// VERSION is 13 for 0.13.0 and 14 for 0.14.0.

const AMZ_ALGORITHM_QUERY_PARAM = 'X-Amz-Algorithm';
const AMZ_CREDENTIAL_QUERY_PARAM = 'X-Amz-Credential';
const AMZ_DATE_QUERY_PARAM = 'X-Amz-Date';
const AMZ_EXPIRES_QUERY_PARAM = 'X-Amz-Expires';
const AMZ_SIGNATURE_QUERY_PARAM = 'X-Amz-Signature';
const AMZ_SIGNED_HEADERS_QUERY_PARAM = 'X-Amz-SignedHeaders';
const AMZ_TOKEN_QUERY_PARAM = 'X-Amz-Security-Token';
const AMZ_CONTENT_SHA256_HEADER = 'x-amz-content-sha256';
const AMZ_DATE_HEADER = 'x-amz-date';
const AUTHORIZATION_HEADER = 'authorization';
const HOST_HEADER = 'host';
const SIGNING_ALGORITHM_IDENTIFIER = 'AWS4-HMAC-SHA256';
const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

/** What a config of a script is missing. */
class InvalidAWSConfigError extends Error {}

/** What AWS answers instead of a result. */
class AWSError extends Error {
  constructor(message, code) {
    super(message);
    this.name = 'AWSError';
    this.code = code;
  }

  static parseXML(text) {
    const page = parseHTML(text);
    const [message, code] = ['Message', 'Code'].map((tag) => page.find(tag).text());
    return new AWSError(message, code);
  }

  static parse(response) {
    if (response.headers['Content-Type'] !== 'application/json') return AWSError.parseXML(response.body);
    const said = response.json() || {};
    const message = said.Message || said.message || said.__type || 'An error occurred on the server side';
    return new AWSError(message, response.headers['X-Amzn-Errortype'] || said.__type);
  }
}

class InvalidSignatureError extends AWSError {
  constructor(message, code) {
    super(message, code);
    this.name = 'InvalidSignatureError';
  }
}

/** A request that had no answer, by k6's error code. The words are those of our own documentation. */
class NetworkError extends Error {
  constructor(name, code) {
    super(`the request failed with the error code ${code}`);
    this.name = name;
    this.code = code;
  }
}
const networkError = (name) => class extends NetworkError {
  constructor(code) {
    super(name, code);
  }
};
const GeneralError = networkError('GeneralError');
const DNSError = networkError('DNSError');
const TCPError = networkError('TCPError');
const TLSError = networkError('TLSError');
const HTTP2Error = networkError('HTTP2Error');

/** A scheme and a host. What is behind the host is left out. */
class Endpoint {
  constructor(address) {
    const isWhole = address.startsWith('http://') || address.startsWith('https://');
    this.href = isWhole ? address : `https://${address}`;
  }

  copy() {
    return new Endpoint(this.href);
  }

  get protocol() {
    return this._protocol;
  }

  set protocol(protocol) {
    this._protocol = protocol;
  }

  get hostname() {
    return this._hostname;
  }

  set hostname(hostname) {
    this._hostname = hostname;
  }

  get port() {
    return this._port;
  }

  set port(port) {
    this._port = port;
  }

  get host() {
    return this._port ? `${this._hostname}:${this._port}` : this._hostname;
  }

  set host(host) {
    const [hostname, port] = host.split(':');
    this._hostname = hostname;
    this._port = port ? parseInt(port) : undefined;
  }

  get href() {
    return `${this.protocol}://${this.host}`;
  }

  set href(address) {
    const [scheme] = address.match(/^https?:/) ?? ['https:'];
    this._protocol = scheme.slice(0, -1);
    [this.host] = address.replace(/^https?:\/\//, '').split('/');
  }
}

/** Region, keys and endpoint of all requests. */
class AWSConfig {
  constructor(options) {
    const { region, accessKeyId, secretAccessKey, sessionToken, endpoint } = options;
    const refuse = (name, expected, found) => {
      throw new InvalidAWSConfigError(`invalid AWS ${name}: found ${found}, expected ${expected}`);
    };
    if (!region) refuse('region', 'a name such as "us-east-1"', region);
    if (!accessKeyId) refuse('access key ID', 'a text', accessKeyId);
    const { length } = accessKeyId;
    // In 0.14.0 longer ones pass without a session token.
    const isLong = length > 128 && (VERSION === 13 || (sessionToken !== undefined && sessionToken !== null));
    if (length < 16 || isLong) refuse('access key ID', '16 to 128 characters', length);
    if (!secretAccessKey) refuse('secret access key', 'a text', secretAccessKey);
    Object.assign(this, { region, accessKeyId, secretAccessKey, sessionToken });
    this.endpoint = typeof endpoint === 'string' ? new Endpoint(endpoint) : endpoint;
  }

  /** From AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. */
  static fromEnvironment(options) {
    const { AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = __ENV;
    return new AWSConfig({ region, accessKeyId, secretAccessKey, sessionToken: __ENV.AWS_SESSION_TOKEN, endpoint: options?.endpoint });
  }
}
