// Calls of httpx. k6/http is replaced by a stand-in that gives back what it is called with, so that no server is needed.
import http from 'k6/http';
import { Counter, Rate } from 'k6/metrics';

const errors = new Rate('own_errors');
const counted = new Counter('own_counter');
let sent = [];
const answer = (...args) => {
  sent.push(render(args));
  return { status: pick([200, 301, 404, 0]), body: args[0] };
};
http.request = answer;
http.asyncRequest = async (...args) => answer(...args);
http.batch = (...args) => answer(...args);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];
const text = () => word('ab/-', 4);
// Texts are left out: sobek, the engine of k6, panics when their objects get properties.
const dict = () => (chance(0.85) ? Object.fromEntries(many(3, () => [text(), text()])) : pick([undefined, null, 5, true, NaN, [1, 2], new Date(0)]));
const named = () => ({ name: '/a/${}', url: '/a/1', clean_url: '/a/1' });
const url = () => pick([() => `/${text()}`, () => 'http://h.test/x', () => 'httpx', named, () => (chance(0.3) ? any() : '')])();
const params = () => (chance(0.3) ? undefined : chance(0.85) ? { headers: dict(), tags: dict(), timeout: below(9), body: text(), ...(chance(0.2) ? { expect: () => true } : {}) } : any());
const options_ = () => (chance(0.9)
  ? { baseURL: pick(['http://h.test', '', undefined]), headers: dict(), tags: dict(), timeout: 5, ...(chance(0.5) ? { errorMetric: errors } : {}),
    ...(chance(0.3) ? { errorMetricCondition: (r) => r.status === 404 } : {}), ...(chance(0.2) ? { otherParams: { redirects: 1 } } : {}), enableHttpReqErrorMetric: true }
  : any());

/** A session after some changes, what a call of it gives, what was sent, and what it remembers. */
function session(options, changes, run) {
  sent = [];
  const before = render(options);
  const one = options === undefined ? new subject.Httpx() : new subject.Httpx(options);
  const after = render(options);
  for (const [name, ...args] of changes) one[name](...args);
  const told = (value) => ({ value, sent, before, after, session: { ...one, lastRequest: one.lastRequest && { object: one.lastRequest.responseObject } },
    took: typeof one.lastRequestChainDuration });
  const value = run(one);
  return value instanceof Promise ? value.then(told) : told(value);
}

const change = () => pick([
  () => ['setBaseUrl', pick(['http://other.test', any()])], () => ['addHeader', text(), text()], () => ['addHeaders', dict()], () => ['addTag', text(), text()],
  () => ['addTags', dict()], () => ['clearTag', text()], () => ['clearHeader', text()],
])();
const requestOf = (name) => () => new subject[name](...(name === 'Request' ? [pick(METHODS)] : []), url(), params());

function calls() {
  const all = {};
  for (const name of Object.keys(subject).filter((name) => name !== 'Httpx' && name !== 'default')) {
    all[name] = {
      make: () => [...(name === 'Request' ? [pick(METHODS)] : []), url(), params()],
      run: (...args) => {
        const one = new subject[name](...args);
        const state = render(one);
        return [state, one.addHeader('x', 'y') === one, one.addTag('t', 'u') === one, one, args];
      },
    };
  }
  const lower = METHODS.map((method) => method.toLowerCase());
  const async = METHODS.map((method) => `async${method[0]}${method.slice(1).toLowerCase()}`);
  for (const name of [...lower, ...async]) {
    all[`Httpx.${name}`] = { make: () => [options_(), many(3, change), url(), pick([null, text(), { a: 1 }]), params()], run: (options, changes, ...args) => session(options, changes, (one) => one[name](...args)) };
  }
  for (const name of ['request', 'asyncRequest']) {
    all[`Httpx.${name}`] = {
      make: () => [options_(), many(3, change), [pick([...METHODS, 'get', 'FOO', undefined]), url(), text(), params()].slice(0, pick([0, 1, 2, 4, 4, 4]))],
      run: (options, changes, args) => session(options, changes, (one) => one[name](...args)),
    };
  }
  const member = () => pick([() => requestOf(pick(['Get', 'Post', 'Request']))(), () => [pick(METHODS), url(), text(), params()], () => any()])();
  all['Httpx.batch'] = { make: () => [options_(), many(2, change), () => many(4, member), params()], run: (options, changes, list, shared) => session(options, changes, (one) => one.batch(list(), shared)) };
  all['Httpx.execute'] = { make: () => [options_(), many(2, change), requestOf(pick(['Get', 'Put', 'Request']))], run: (options, changes, make) => session(options, changes, (one) => one.execute(make())) };
  all['Httpx.validateMethod'] = { count: 20, make: () => [pick([...METHODS, 'get', any()])], run: (method) => new subject.Httpx().validateMethod(method) };
  all['Httpx._merge_params'] = { make: () => [params(), params()], run: (...args) => new subject.Httpx()._merge_params(...args) };
  return all;
}
