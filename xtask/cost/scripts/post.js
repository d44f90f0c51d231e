import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

const sizes = new Trend('answer_size');
const params = { headers: { 'Content-Type': 'application/json' } };

export default function () {
  const body = JSON.stringify({ id: __ITER, user: __VU, name: 'picture', tags: ['a', 'b', 'c'] });
  const answer = http.post(`${__ENV.URL}upload`, body, params);
  check(answer, { 'status is 200': (r) => r.status === 200 });
  sizes.add(answer.body.length);
}
