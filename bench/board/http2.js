// HTTP/2 over TLS: a GET of a few bytes; requests of a user share its connection.
import { check } from 'k6';
import http from 'k6/http';
import { closed, done } from './operation.js';

export const options = closed();

export default function () {
  const response = http.get(`${__ENV.TLS}/`);
  const isFine = check(response, { 'status is 200, by HTTP/2': (r) => r.status === 200 && r.proto === 'HTTP/2.0' });
  if (isFine) done(response.timings.duration);
}
