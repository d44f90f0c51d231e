// http-instrumentation-tempo: requests of k6/http that carry a trace context, each in a trace of its own. Samples carry the
// id of the trace as metadata.
import exec from 'k6/execution';
import http from 'k6/http';

// Where the params of each function are.
const PARAMS_AT = { get: 1, head: 1, del: 2, options: 2, patch: 2, post: 2, put: 2, request: 3, asyncRequest: 3 };

// What sends: k6/http, or its functions as they were before `instrumentHTTP` replaced them.
let sender = http;

const PROPAGATORS = {
  w3c: (trace, flag) => ['traceparent', `00-${trace}-${randomId(8)}-0${flag}`],
  jaeger: (trace, flag) => ['uber-trace-id', `${trace}:${randomId(4)}:0:${flag}`],
};

/** So many random bytes in hexadecimal digits, not all of them 0. */
function randomId(bytes) {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return /[^0]/.test(id) ? id : randomId(bytes);
}

/** A trace id as k6's library makes it: what it is of, when in nanoseconds, and what is random. */
const traceId = () => `dc0718${(BigInt(Date.now()) * 1000000n).toString(16).padStart(16, '0')}${randomId(5)}`;

class Client {
  #propagate;
  #sampling;

  /** `propagator`: w3c or jaeger; `sampling`: the share of requests that are sampled, from 0 to 1. */
  constructor({ propagator, sampling = 1 }) {
    if (!Object.hasOwn(PROPAGATORS, propagator)) throw new Error(`found the propagator '${propagator}', expected w3c or jaeger`);
    if (sampling < 0 || sampling > 1) throw new Error(`found the sampling ${sampling}, expected a number from 0 to 1`);
    this.#propagate = PROPAGATORS[propagator];
    this.#sampling = sampling;
  }

  send(name, args) {
    const trace = traceId();
    const [header, value] = this.#propagate(trace, Math.random() < this.#sampling ? 1 : 0);
    const at = PARAMS_AT[name];
    const all = Array.from({ length: Math.max(args.length, at + 1) }, (_, index) => args[index]);
    all[at] = { ...all[at], headers: { ...all[at]?.headers, [header]: value } };
    const { metadata } = exec.vu.metrics;
    metadata.trace_id = trace;
    try {
      return sender[name](...all);
    } finally {
      delete metadata.trace_id;
    }
  }
}

for (const name of Object.keys(PARAMS_AT)) {
  Client.prototype[name] = function (...args) {
    return this.send(name, args);
  };
}

/** Replaces the functions of k6/http that send a request, for all modules of the script. */
function instrumentHTTP(options) {
  const client = new Client(options);
  if (sender === http) sender = { ...http };
  for (const name of Object.keys(PARAMS_AT)) http[name] = (...args) => client.send(name, args);
}

export { Client, instrumentHTTP };
export default { Client, instrumentHTTP };
