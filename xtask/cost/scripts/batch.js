import http from 'k6/http';

export default function () {
  http.batch([__ENV.URL, __ENV.URL, __ENV.URL, __ENV.URL]);
}
