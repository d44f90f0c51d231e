// An upload of 100 KiB, which the server reads to its end before it answers.
import { check } from 'k6';
import http from 'k6/http';
import { closed, done } from './operation.js';

export const options = closed();

const body = new Uint8Array(100 * 1024).fill(120).buffer;

export default function () {
  const params = { headers: { 'Content-Type': 'application/octet-stream' } };
  const response = http.post(`${__ENV.BASE}/upload`, body, params);
  if (check(response, { 'status is 200': (r) => r.status === 200 })) done(response.timings.duration);
}
