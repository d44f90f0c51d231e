// An image and a JSON part that differs each time, in a FormData of Onrush: sent from where the parts lie.
import http, { FormData } from 'onrush/http';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const image = open(__ENV.IMAGE, 'b');

export default function () {
  const form = new FormData();
  form.append('image', http.file(image, 'image.jpg', 'image/jpeg'));
  const meta = { id: __ITER, vu: __VU, name: 'picture', tags: ['a', 'b', 'c'] };
  form.append('meta', http.file(JSON.stringify(meta), 'meta.json', 'application/json'));
  http.post(__ENV.URL, form);
}
