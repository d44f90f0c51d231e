// A POST without a body and a check.
import http from 'k6/http';
import { check } from 'k6';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

export default function () {
  check(http.post(__ENV.URL), { 'status is 200': (r) => r.status === 200 });
}
