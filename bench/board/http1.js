// HTTP/1.1: a GET of a few bytes on a kept connection, one at a time.
import { check } from 'k6';
import http from 'k6/http';
import { closed, done } from './operation.js';

export const options = closed();

export default function () {
  const response = http.get(`${__ENV.BASE}/`);
  if (check(response, { 'status is 200': (r) => r.status === 200 })) done(response.timings.duration);
}
