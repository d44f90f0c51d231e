// A static file of 20 KiB.
import { check } from 'k6';
import http from 'k6/http';
import { closed, done } from './operation.js';

export const options = { ...closed(), discardResponseBodies: true };

export default function () {
  const response = http.get(`${__ENV.BASE}/body/file/20k`);
  const isWhole = (r) => r.status === 200 && Number(r.headers['Content-Length']) === 20480;
  if (check(response, { 'the whole file': isWhole })) done(response.timings.duration);
}
