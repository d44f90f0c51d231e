// A fixed rate: iterations start on schedule, whatever the server does, so a slow answer does not lower the load.
import { check } from 'k6';
import http from 'k6/http';
import { STATS, done } from './operation.js';

export const options = {
  thresholds: { checks: ['rate==1'] },
  summaryTrendStats: STATS,
  scenarios: {
    board: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 1000),
      timeUnit: '1s',
      duration: __ENV.DURATION || '3s',
      preAllocatedVUs: 50,
      maxVUs: 500,
    },
  },
};

export default function () {
  const response = http.get(`${__ENV.BASE}/`);
  if (check(response, { 'status is 200': (r) => r.status === 200 })) done(response.timings.duration);
}
