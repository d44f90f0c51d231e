// One cell of bench/links.py: the link of the option `network`, measured from inside. WHAT is the rate down or up, or the delay.
import http from 'k6/http';
import { random } from 'onrush/payload';
import { Trend } from 'k6/metrics';
export { handleSummary } from './summary.js';

const { TARGET, WHAT, BYTES, VUS, ITERATIONS, NETWORK } = __ENV;
const rate = new Trend('rate');
const waited = new Trend('waited');
// What arrives in one piece before the clock of `receiving` runs: a millisecond of the rate, at least a packet.
const FIRST = Number(__ENV.FIRST || 0);

export const options = {
  scenarios: { cell: { executor: 'per-vu-iterations', vus: Number(VUS), iterations: Number(ITERATIONS), maxDuration: '2m' } },
  network: NETWORK || {},
  discardResponseBodies: true,
  summaryTrendStats: ['min', 'med', 'max', 'p(99)', 'p(1)', 'count'],
};

export default function () {
  if (WHAT === 'delay') {
    waited.add(http.get(TARGET + '/').timings.waiting);
  } else if (WHAT === 'down') {
    // A connection first, so that the answer is all that the link carries then.
    http.get(TARGET + '/');
    const { timings } = http.get(`${TARGET}/body/string/${BYTES}`);
    rate.add(((BYTES - FIRST) * 8) / timings.receiving / 1e3);
  } else {
    http.get(TARGET + '/');
    const { timings } = http.post(`${TARGET}/upload`, random(Number(BYTES)));
    rate.add((BYTES * 8) / (timings.sending + timings.waiting - Number(__ENV.LATENCY)) / 1e3);
  }
}
