// Calls of http-instrumentation-tempo: requests to where nothing listens, whose headers the answer has. Ids are random: their
// length alone is compared.
const shape = (value) => String(value).replace(/[0-9a-f]{8,}/g, (id) => `<${id.length}>`);

const params = () => pick([undefined, null, {}, { headers: { 'X-Own': '1' } }, { tags: { a: 'b' } }]);
const settings_ = () => ({ propagator: pick(['w3c', 'jaeger']), sampling: pick([0, 1]) });

/** The headers that a call of a client sends. */
function headersOf(options, name, args) {
  const { headers } = new subject.Client(options)[name](...args).request;
  const sent = Object.entries(headers).filter(([key]) => key !== 'User-Agent');
  return sent.map(([key, value]) => [key, shape(value)]).sort();
}

function calls() {
  const without = (name) => ({ make: () => [settings_(), name, ['http://127.0.0.1:1/', params()]], run: headersOf });
  const body = (name) => ({ make: () => [settings_(), name, ['http://127.0.0.1:1/', pick([null, 'body']), params()]], run: headersOf });
  return {
    'Client get': without('get'),
    'Client head': without('head'),
    ...Object.fromEntries(['post', 'put', 'patch', 'del', 'options'].map((name) => [`Client ${name}`, body(name)])),
    'Client request': { make: () => [settings_(), 'request', [pick(['GET', 'POST']), 'http://127.0.0.1:1/', null, params()]], run: headersOf },
  };
}
