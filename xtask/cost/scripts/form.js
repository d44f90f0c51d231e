import http, { FormData } from 'onrush/http';

const image = new Uint8Array(140 * 1024).fill(7).buffer;

export default function () {
  const form = new FormData();
  form.append('image', http.file(image, 'image.jpg', 'image/jpeg'));
  form.append('meta', http.file(JSON.stringify({ id: __ITER, user: __VU }), 'meta.json', 'application/json'));
  http.post(`${__ENV.URL}upload`, form);
}
