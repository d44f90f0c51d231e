// The same form as k6 makes it: http.file in an object.
import http from 'k6/http';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const image = open(__ENV.IMAGE, 'b');

export default function () {
  const meta = { id: __ITER, vu: __VU, name: 'picture', tags: ['a', 'b', 'c'] };
  http.post(__ENV.URL, {
    image: http.file(image, 'image.jpg', 'image/jpeg'),
    meta: http.file(JSON.stringify(meta), 'meta.json', 'application/json'),
  });
}
