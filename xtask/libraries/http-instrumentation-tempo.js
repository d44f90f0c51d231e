// Calls of http-instrumentation-tempo. k6/http is replaced by a stand-in that keeps the headers of a request, so that no
// server is needed. Ids are random: their length alone is compared.
import http from 'k6/http';

let sent = [];
const keep = (...args) => {
  const headers = args.map((arg) => arg?.headers).find((given) => given) ?? {};
  const shape = (value) => String(value).replace(/[0-9a-f]{16,}/g, (id) => `<${id.length}>`);
  sent.push(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), shape(value)]).sort()));
};
for (const name of ['get', 'head', 'post', 'put', 'patch', 'del', 'options', 'request', 'asyncRequest']) http[name] = keep;

const params = () => pick([undefined, null, {}, { headers: { 'X-Own': '1' } }, { tags: { a: 'b' } }]);
const settings_ = () => ({ propagator: pick(['w3c', 'jaeger']), sampling: pick([0, 1]) });

/** The headers that a call of a client sends. */
function headersOf(options, name, args) {
  sent = [];
  new subject.Client(options)[name](...args);
  return sent;
}

function calls() {
  const without = (name) => ({ make: () => [settings_(), name, ['http://h.test/', params()]], run: headersOf });
  const body = (name) => ({ make: () => [settings_(), name, ['http://h.test/', pick([null, 'body']), params()]], run: headersOf });
  return {
    'Client get': without('get'),
    'Client head': without('head'),
    ...Object.fromEntries(['post', 'put', 'patch', 'del', 'options'].map((name) => [`Client ${name}`, body(name)])),
    'Client request': { make: () => [settings_(), 'request', [pick(['GET', 'POST']), 'http://h.test/', null, params()]], run: headersOf },
  };
}
