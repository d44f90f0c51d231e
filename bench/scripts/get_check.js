// A small GET and a check, as most scripts have.
import http from 'k6/http';
import { check } from 'k6';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

export default function () {
  check(http.get(__ENV.URL), { 'status is 200': (r) => r.status === 200 });
}
