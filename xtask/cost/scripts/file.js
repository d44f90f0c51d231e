import http from 'k6/http';

const image = new Uint8Array(140 * 1024).fill(7).buffer;

export default function () {
  http.post(`${__ENV.URL}upload`, {
    image: http.file(image, 'image.jpg', 'image/jpeg'),
    meta: http.file(JSON.stringify({ id: __ITER, user: __VU }), 'meta.json', 'application/json'),
  });
}
