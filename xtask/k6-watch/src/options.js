// Options of every kind, for `inspect`, which shows all fields.
module.exports.options = {
  dns: { ttl: '1m', select: 'first', policy: 'any' },
  tlsVersion: { min: 'tls1.2', max: 'tls1.3' },
  thresholds: { http_reqs: [{ threshold: 'count>0', abortOnFail: true, delayAbortEval: '1s' }] },
  scenarios: {
    a: { executor: 'shared-iterations', vus: 1, iterations: 1, maxDuration: '1s' },
    b: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '1s' },
    c: { executor: 'constant-vus', vus: 1, duration: '1s' },
    d: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '1s', target: 1 }], gracefulRampDown: '1s' },
    e: { executor: 'constant-arrival-rate', rate: 1, timeUnit: '1s', duration: '1s', preAllocatedVUs: 1, maxVUs: 2 },
    f: {
      executor: 'ramping-arrival-rate', startRate: 1, timeUnit: '1s', preAllocatedVUs: 1, maxVUs: 2,
      stages: [{ duration: '1s', target: 1 }],
    },
  },
};
module.exports.default = () => {};
