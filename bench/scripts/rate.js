// Open model: iterations start on schedule, whatever the server does.
import http from 'k6/http';
import { closed, handleSummary } from './summary.js';

export const options = closed({
  vus: undefined,
  duration: undefined,
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: __ENV.DURATION,
      preAllocatedVUs: Number(__ENV.VUS),
      maxVUs: 5 * Number(__ENV.VUS),
    },
  },
});
export { handleSummary };

export default function () {
  http.get(__ENV.URL);
}
