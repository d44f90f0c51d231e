import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const res = http.get(`${__ENV.URL}json`);
  const { slides } = res.json().slideshow;
  check(res, { 'the document': (r) => slides.length === 2 && r.json('slideshow.slides.1.items.0') === 'requests' });
}
