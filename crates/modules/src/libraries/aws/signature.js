// SignatureV4: the canonical request of AWS's specification, and its signature in headers or in the query.

const LONGEST_SECONDS = 7 * 24 * 3600;
/** Headers that proxies may change, or that are set after signing. */
const UNSIGNED_HEADERS = ['authorization', 'cache-control', 'connection', 'expect', 'from', 'keep-alive', 'max-forwards', 'pragma', 'referer', 'te',
  'trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'x-amzn-trace-id'];
const SET_BY_SIGNING = [AUTHORIZATION_HEADER, AMZ_DATE_HEADER, 'date'];

/** RFC 3986's unreserved characters stay. */
function escaped(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A moment in AWS's form. Numbers, and texts that are numbers, are seconds. */
function momentOf(given) {
  let date = given;
  if (typeof given === 'number') date = new Date(given * 1000);
  else if (typeof given === 'string') date = Number(given) ? new Date(Number(given) * 1000) : new Date(given);
  const time = date.toISOString().replace(/\.\d{3}Z$/, 'Z').replace(/[-:]/g, '');
  return { time, day: time.slice(0, 8) };
}

/** Names and values of a query by name; the values of one name in their order. Neither text nor array: left out. */
function queryText(query, isLeftOut = () => false) {
  const parts = Object.keys(query).sort().filter((name) => !isLeftOut(name)).map((name) => {
    const values = query[name];
    if (typeof values === 'string') return `${escaped(name)}=${escaped(values)}`;
    if (!Array.isArray(values)) return undefined;
    return values.slice().sort().map((value) => `${escaped(name)}=${escaped(value)}`).join('&');
  });
  return parts.filter(Boolean).join('&');
}

/** An address from endpoint, path and query. 0.13.0 presigns with one slash more than the path has. */
function addressOf({ href }, path, query, isPresigned = false) {
  const isWhole = path && path.startsWith('/') && !(VERSION === 13 && isPresigned);
  const slash = href.endsWith('/') || isWhole ? '' : '/';
  const address = path ? `${href}${slash}${path}` : href;
  return query ? `${address}?${queryText(query)}` : address;
}

class SignatureV4 {
  /** `service`, `region`, `credentials`; `uriEscapePath` normalises and escapes the path (not for S3), `applyChecksum` adds its header. */
  constructor({ service, region, credentials, uriEscapePath, applyChecksum }) {
    const isOn = (option) => (typeof option === 'boolean' ? option : true);
    Object.assign(this, { service, region, credentials });
    this.uriEscapePath = isOn(uriEscapePath);
    this.applyChecksum = isOn(applyChecksum);
  }

  /** The request with its signature in headers, which are changed in the request itself, and its address. */
  sign(request, options = {}) {
    const { signingDate, signingService, signingRegion, unsignableHeaders, signableHeaders } = {
      signingDate: new Date(), unsignableHeaders: new Set(), signableHeaders: new Set(), ...options,
    };
    const scope = this.scope(signingDate, signingService, signingRegion);
    const { headers } = request;
    if (!headers[HOST_HEADER]) headers[HOST_HEADER] = request.endpoint.hostname;
    for (const name of Object.keys(headers)) if (SET_BY_SIGNING.includes(name.toLowerCase())) delete headers[name];
    headers[AMZ_DATE_HEADER] = scope.time;
    if (this.credentials.sessionToken) headers['x-amz-security-token'] = this.credentials.sessionToken;
    if (ArrayBuffer.isView(request.body)) request.body = request.body.buffer;
    if (!request.body) request.body = '';
    const payload = this.computePayloadHash(request);
    const hasSum = Object.keys(headers).some((name) => name.toLowerCase() === AMZ_CONTENT_SHA256_HEADER);
    if (!hasSum && this.applyChecksum) headers[AMZ_CONTENT_SHA256_HEADER] = payload;
    const signed = this.computeCanonicalHeaders(request, unsignableHeaders, signableHeaders);
    const signature = this.signatureOf(scope, this.createCanonicalRequest(request, signed, payload));
    const names = Object.keys(signed).sort().join(';');
    const credential = `${this.credentials.accessKeyId}/${scope.text}`;
    headers[AUTHORIZATION_HEADER] = `${SIGNING_ALGORITHM_IDENTIFIER} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
    return { url: addressOf(request.endpoint, request.path, request.query), ...request };
  }

  /** The request with its signature in the query, which holds for `expiresIn` seconds. */
  presign(original, options = {}) {
    const { signingDate = new Date(), expiresIn = 3600, unsignableHeaders, unhoistableHeaders, signableHeaders } = options;
    if (expiresIn > LONGEST_SECONDS) {
      throw new InvalidSignatureError(`expiresIn: found ${expiresIn}, expected at most ${LONGEST_SECONDS} seconds, which is seven days`);
    }
    const scope = this.scope(signingDate, options.signingService, options.signingRegion);
    const request = this.moveHeadersToQuery(original, { unhoistableHeaders });
    const { headers, query } = request;
    if (!headers[HOST_HEADER]) headers[HOST_HEADER] = original.endpoint.hostname;
    if (this.credentials.sessionToken) query[AMZ_TOKEN_QUERY_PARAM] = this.credentials.sessionToken;
    query[AMZ_ALGORITHM_QUERY_PARAM] = SIGNING_ALGORITHM_IDENTIFIER;
    query[AMZ_CREDENTIAL_QUERY_PARAM] = `${this.credentials.accessKeyId}/${scope.text}`;
    query[AMZ_DATE_QUERY_PARAM] = scope.time;
    query[AMZ_EXPIRES_QUERY_PARAM] = expiresIn.toString(10);
    const signed = this.computeCanonicalHeaders(request, unsignableHeaders, signableHeaders);
    query[AMZ_SIGNED_HEADERS_QUERY_PARAM] = Object.keys(signed).sort().join(';');
    const canonical = this.createCanonicalRequest(request, signed, this.computePayloadHash(original));
    query[AMZ_SIGNATURE_QUERY_PARAM] = this.signatureOf(scope, canonical);
    return { url: addressOf(original.endpoint, request.path, query, true), ...request };
  }

  scope(date, service, region) {
    const [forRegion, forService] = [region || this.region, service || this.service];
    const { time, day } = momentOf(date);
    return { time, day, region: forRegion, service: forService, text: `${day}/${forRegion}/${forService}/aws4_request` };
  }

  signatureOf({ time, day, region, service, text }, canonical) {
    const key = this.deriveSigningKey(this.credentials, service, region, day);
    return this.calculateSignature(time, text, key, canonical);
  }

  createCanonicalRequest(request, headers, payload) {
    const names = Object.keys(headers).sort();
    const list = names.map((name) => `${name}:${headers[name]}\n`).join('');
    const path = this.computeCanonicalURI(request);
    return [request.method, path, this.computeCanonicalQuerystring(request), list || '\n', names.join(';'), payload].join('\n');
  }

  createStringToSign(time, scope, canonical) {
    return [SIGNING_ALGORITHM_IDENTIFIER, time, scope, k6crypto.sha256(canonical, 'hex')].join('\n');
  }

  calculateSignature(time, scope, key, canonical) {
    return k6crypto.hmac('sha256', key, this.createStringToSign(time, scope, canonical), 'hex');
  }

  deriveSigningKey({ secretAccessKey }, service, region, day) {
    const parts = [day, region, service, 'aws4_request'];
    const key = parts.reduce((key, part) => k6crypto.hmac('sha256', key, part, 'binary'), `AWS4${secretAccessKey}`);
    return VERSION > 13 ? new Uint8Array(key) : key;
  }

  /** Empty steps, `.` and `..` are resolved, then all is escaped once more. As it is for S3. */
  computeCanonicalURI({ path }) {
    if (!this.uriEscapePath) return path;
    const steps = [];
    for (const step of path.split('/')) {
      if (step === '..') steps.pop();
      else if (step !== '' && step !== '.') steps.push(step);
    }
    const end = steps.length > 0 && path.endsWith('/') ? '/' : '';
    return encodeURIComponent(`${path.startsWith('/') ? '/' : ''}${steps.join('/')}${end}`).replace(/%2F/g, '/');
  }

  computeCanonicalQuerystring({ query = {} }) {
    return queryText(query, (name) => name.toLowerCase() === 'x-amz-signature');
  }

  /** Headers that are signed, in one form; a request's own get it too. */
  computeCanonicalHeaders({ headers }, unsignable, signable) {
    const signed = {};
    for (const header of Object.keys(headers).sort()) {
      const name = header.toLowerCase();
      const isLeftOut = (UNSIGNED_HEADERS.includes(name) || unsignable?.has(name)) && !signable?.has(name);
      if (isLeftOut || typeof headers[header] !== 'string') continue;
      headers[header] = headers[header].trim().replace(/\s+/g, ' ');
      signed[name] = headers[header];
    }
    return signed;
  }

  computePayloadHash({ headers, body }) {
    if (headers[AMZ_CONTENT_SHA256_HEADER]) return headers[AMZ_CONTENT_SHA256_HEADER];
    const bytes = ArrayBuffer.isView(body) ? body.buffer : body ?? '';
    const isBuffer = Object.prototype.toString.call(bytes) === '[object ArrayBuffer]';
    return typeof bytes === 'string' || isBuffer ? k6crypto.sha256(bytes, 'hex').toLowerCase() : UNSIGNED_PAYLOAD;
  }

  moveHeadersToQuery(original, { unhoistableHeaders } = {}) {
    const request = JSON.parse(JSON.stringify(original));
    const { headers, query = {} } = request;
    for (const header of Object.keys(headers)) {
      const name = header.toLowerCase();
      if (name.slice(0, 6) !== 'x-amz-' || unhoistableHeaders?.has(name)) continue;
      query[header] = headers[header];
      delete headers[header];
    }
    return { ...request, headers, query };
  }

  serializeQueryParameters(query, leftOut) {
    return queryText(query, (name) => leftOut?.includes(name.toLowerCase()));
  }
}
