// What most tests do: requests with checks in groups, JSON both ways, a metric, thresholds, setup and teardown.
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const sizes = new Trend('sizes');

export const options = {
  vus: 3,
  duration: '1s',
  thresholds: { http_req_duration: ['p(95)<30000'], checks: ['rate>=0'], sizes: ['max<1000000'] },
};

export function setup() {
  return { word: 'ready' };
}

export default function (data) {
  group('read', () => {
    const response = http.get(`${__ENV.TARGET}/get`, { tags: { kind: 'read' } });
    check(response, { 'status is 200': (r) => r.status === 200 });
  });
  const body = JSON.stringify({ list: [1, 2, 3], word: data.word });
  const answer = http.post(`${__ENV.TARGET}/post`, body, { headers: { 'Content-Type': 'application/json' } });
  if (answer.status === 200) sizes.add(answer.json('size'));
  sleep(0.03);
}

export function teardown(data) {
  if (data.word !== 'ready') throw new Error('setup came to something else');
}
