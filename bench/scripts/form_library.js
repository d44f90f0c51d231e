// The same form by k6's FormData library, imported from its usual address.
import http from 'k6/http';
import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const image = open(__ENV.IMAGE, 'b');

export default function () {
  const form = new FormData();
  form.append('image', http.file(image, 'image.jpg', 'image/jpeg'));
  const meta = { id: __ITER, vu: __VU, name: 'picture', tags: ['a', 'b', 'c'] };
  form.append('meta', http.file(JSON.stringify(meta), 'meta.json', 'application/json'));
  http.post(__ENV.URL, form.body(), {
    headers: { 'Content-Type': 'multipart/form-data; boundary=' + form.boundary },
  });
}
