import http from 'k6/http';
import { check, group } from 'k6';

export default function () {
  group('front page', () => {
    check(http.get(__ENV.URL), {
      'status is 200': (r) => r.status === 200,
      'has a body': (r) => r.body.length > 0,
      'is text': (r) => r.headers['Content-Type'].startsWith('text/plain'),
    });
  });
}
