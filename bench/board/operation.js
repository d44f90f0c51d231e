// What the profiles of the board share: one counter and one duration for all of them, so that a call of gRPC, a message and a request
// stand in the same columns; and the closed load of most.
import { Counter, Trend } from 'k6/metrics';

/** What the board shows of durations. */
export const STATS = ['med', 'p(95)', 'p(99)'];

const operations = new Counter('operations');
const duration = new Trend('operation_duration', true);

/** An operation that succeeded, and how long it took in milliseconds: whole ones where a script has to ask the clock itself. */
export function done(ms) {
  operations.add(1);
  duration.add(ms);
}

/** Users that begin again when they have ended; a failed check fails the run. */
export function closed() {
  return {
    insecureSkipTLSVerify: true,
    summaryTrendStats: STATS,
    thresholds: { checks: ['rate==1'] },
    scenarios: {
      board: { executor: 'constant-vus', vus: Number(__ENV.VUS || 16), duration: __ENV.DURATION || '3s', gracefulStop: '5s' },
    },
  };
}
