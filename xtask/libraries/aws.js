// Calls of aws/signature.js with generated requests at given moments.
const text = () => word('ab/. -_~+%&=ü☃*\'()', 6);
const path = () => pick([() => `/${many(4, () => pick(['a', '.', '..', '', 'b c', 'ü', 'a%20b', "x'(y)*"])).join('/')}`, () => '/', () => '//', () => 'a/b', () => '/./', () => '/example/..', text])();
const query = () => pick([() => undefined, () => Object.fromEntries(many(4, () => [text(), pick([text(), [text(), text()], '', 5, undefined])]))])();
const headers = () => Object.fromEntries(many(5, () => [pick(['Host', 'host', 'X-Amz-Target', 'x-amz-content-sha256', 'Content-Type', 'User-Agent', 'sec-fetch', 'proxy-x', 'My-Header', 'Date', 'authorization', 'range']), pick([` a   b ${text()}`, 'x', '', undefined, 5])]));
const endpoint = () => new subject.Endpoint(pick(['https://example.amazonaws.com', 'http://localhost:4566', 'bucket.s3.amazonaws.com', 'https://h.test:8443/path']));
const request = () => ({
  method: pick(['GET', 'POST', 'PUT']), protocol: 'https', hostname: 'example.amazonaws.com', path: path(), query: query(), headers: headers(), endpoint: 'Endpoint' in subject ? endpoint() : undefined,
  body: pick([() => undefined, () => 'body', () => '', () => new Uint8Array([1, 2, 3]), () => new Uint8Array([1, 2]).buffer, () => null, () => ({ a: 1 })])(),
});
const credentials = () => ({ accessKeyId: pick(['AKIDEXAMPLE', 'AKIAIOSFODNN7EXAMPLE']), secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', ...(chance(0.3) ? { sessionToken: 'token/+=' } : {}) });
const options_ = () => ({ service: pick(['s3', 'service', 'sqs']), region: pick(['us-east-1', 'eu-west-3']), credentials: credentials(), ...(chance(0.6) ? { uriEscapePath: pick([true, false, undefined, 1]) } : {}), ...(chance(0.6) ? { applyChecksum: pick([true, false, undefined]) } : {}) });
const moment = () => pick([() => new Date(Date.UTC(2015, 7, 30, 12, 36)), () => new Date(below(2 ** 41)), () => 1440938160, () => '1440938160', () => '2015-08-30T12:36:00Z', () => (chance(0.2) ? any() : new Date(0))])();
const set = () => new Set(many(3, () => pick(['host', 'my-header', 'user-agent', 'x-amz-date', 'x-amz-target', 'content-type'])));
const signOptions = () => ({ signingDate: moment(), ...(chance(0.2) ? { signingService: 'ec2' } : {}), ...(chance(0.2) ? { signingRegion: 'ap-south-1' } : {}), ...(chance(0.3) ? { unsignableHeaders: set() } : {}), ...(chance(0.3) ? { signableHeaders: set() } : {}) });
const signer = (options) => new subject.SignatureV4(options);
const key = (length) => 'K'.repeat(length);

function calls() {
  const all = {
    SignatureV4: { make: () => [chance(0.9) ? options_() : any()], run: (options) => ({ ...signer(options) }) },
    'SignatureV4.sign': { count: 3 * COUNT, make: () => [options_(), request(), signOptions()], run: (options, one, sign) => [signer(options).sign(one, sign), one] },
    'SignatureV4.presign': { count: 3 * COUNT, make: () => [options_(), request(), { ...signOptions(), ...(chance(0.5) ? { expiresIn: pick([1, 3600, 604800, 604801, 0, -1, 1e9, '60']) } : {}), ...(chance(0.3) ? { unhoistableHeaders: set() } : {}) }], run: (options, one, sign) => [signer(options).presign(one, sign), one] },
    'SignatureV4.computeCanonicalURI': { count: 2 * COUNT, make: () => [options_(), path()], run: (options, one) => signer(options).computeCanonicalURI({ path: one }) },
    'SignatureV4.computeCanonicalQuerystring': { make: () => [options_(), query()], run: (options, one) => signer(options).computeCanonicalQuerystring({ query: one }) },
    'SignatureV4.computeCanonicalHeaders': { make: () => [options_(), headers(), set(), pick([undefined, set()])], run: (options, one, ...sets) => signer(options).computeCanonicalHeaders({ headers: one }, ...sets) },
    'SignatureV4.computePayloadHash': { make: () => [options_(), request()], run: (options, one) => signer(options).computePayloadHash(one) },
    'SignatureV4.createCanonicalRequest': { make: () => [options_(), request(), headers()], run: (options, one, list) => signer(options).createCanonicalRequest(one, list, 'abc') },
    'SignatureV4.createStringToSign': { make: () => [options_(), text(), text(), text()], run: (options, ...args) => signer(options).createStringToSign(...args) },
    'SignatureV4.deriveSigningKey': { make: () => [options_(), text(), text(), text()], run: (options, ...args) => signer(options).deriveSigningKey(options.credentials, ...args) },
    'SignatureV4.calculateSignature': { make: () => [options_(), text(), text(), text()], run: (options, ...args) => signer(options).calculateSignature(args[0], args[1], new Uint8Array([1, 2, 3]), args[2]) },
    'SignatureV4.moveHeadersToQuery': { make: () => [options_(), request(), pick([undefined, { unhoistableHeaders: set() }])], run: (options, one, how) => signer(options).moveHeadersToQuery(one, how) },
    'SignatureV4.serializeQueryParameters': { make: () => [options_(), query() ?? {}, pick([undefined, ['a', 'b']])], run: (options, one, leftOut) => signer(options).serializeQueryParameters(one, leftOut) },
    constants: { count: 1, make: () => [], run: () => Object.fromEntries(Object.entries(subject).filter(([, one]) => typeof one === 'string').sort()) },
  };
  if (!('Endpoint' in subject)) return all;
  const address = () => pick(['https://h.test', 'http://h.test:80/a/b', 'h.test', 'h.test:8080', '', 'ftp://h.test', 'https://', text(), any()]);
  const told = (one) => ({ protocol: one.protocol, hostname: one.hostname, port: one.port, host: one.host, href: one.href });
  all.Endpoint = {
    make: () => [address(), pick(['host', 'hostname', 'href', 'port', 'protocol']), address()],
    run: (one, name, other) => {
      const made = new subject.Endpoint(one);
      const copy = made.copy();
      made[name] = other;
      return [told(copy), told(made)];
    },
  };
  all.AWSConfig = {
    make: () => [pick([() => ({ region: pick(['us-east-1', '', undefined]), accessKeyId: pick([key(16), key(15), key(128), key(129), '', undefined, 5]), secretAccessKey: pick(['s', '', undefined]),
      ...(chance(0.5) ? { sessionToken: pick(['t', null, undefined]) } : {}), ...(chance(0.5) ? { endpoint: pick(['https://h.test', endpoint(), null]) } : {}) }), any])()],
    run: (options) => {
      const { region, accessKeyId, secretAccessKey, sessionToken, endpoint: at } = new subject.AWSConfig(options);
      return [region, accessKeyId, secretAccessKey, sessionToken, at && told(at)];
    },
  };
  all['AWSConfig.fromEnvironment'] = { count: 5, make: () => [pick([undefined, {}, { endpoint: 'h.test' }])], run: (options) => { const { endpoint: at, ...rest } = subject.AWSConfig.fromEnvironment(options); return [rest, at && told(at)]; } };
  for (const name of ['InvalidAWSConfigError', 'InvalidSignatureError', 'AWSError', 'GeneralError', 'DNSError', 'TCPError', 'TLSError', 'HTTP2Error', 'NetworkError']) {
    if (name in subject) all[name] = { count: 20, make: () => [pick(['words', 1050, 1211, undefined]), pick(['CODE', 1000, undefined])], run: (...args) => { const error = new subject[name](...args); return [error.name, error.message, error.code, error instanceof Error]; } };
  }
  if ('AWSError' in subject) {
    all['AWSError.parse'] = {
      make: () => [{ headers: pick([{}, { 'Content-Type': 'application/json' }, { 'Content-Type': 'application/json', 'X-Amzn-Errortype': 'Type' }]), body: '<Error><Code>C</Code><Message>M</Message></Error>', json: pick([() => ({ Message: 'm' }), () => ({ message: 'n', __type: 'T' }), () => null, () => ({ __type: 'T' })]) }],
      run: (response) => { const error = subject.AWSError.parse(response); return [error.name, error.message, error.code]; },
    };
  }
  return all;
}
