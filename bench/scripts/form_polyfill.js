// POST of an image and a JSON part, assembled each iteration by a FormData
// written in JavaScript. It does what the polyfill of k6's jslib does: every
// piece becomes a plain array of byte values, all of them are appended to one
// array, and one Uint8Array is made of it at the end.
import http from 'k6/http';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const image = open(__ENV.IMAGE, 'b');

// Plain loops with var: in k6's interpreter a let in the loop costs more, and the
// polyfill has none.
function bytesOf(value) {
  var bytes = [];
  var i, n;
  if (typeof value === 'string') {
    for (i = 0, n = value.length; i < n; i++) bytes.push(value.charCodeAt(i) & 0xff);
    return bytes;
  }
  var view = new Uint8Array(value);
  for (i = 0, n = view.byteLength; i < n; i++) bytes.push(view[i] & 0xff);
  return bytes;
}

class Form {
  constructor() {
    this.boundary = '------BenchFormBoundary' + Math.random().toString(36);
    this.fields = [];
  }

  append(name, part) {
    this.fields.push({ name, part: typeof part === 'string' ? { data: part } : part });
  }

  body() {
    const all = [];
    const extend = (bytes) => Array.prototype.push.apply(all, bytes);
    const delimiter = bytesOf(`--${this.boundary}\r\n`);
    for (const { name, part } of this.fields) {
      extend(delimiter);
      const file = part.filename ? `; filename="${part.filename}"` : '';
      extend(bytesOf(`Content-Disposition: form-data; name="${name}"${file}\r\n` +
        `Content-Type: ${part.content_type || 'application/octet-stream'}\r\n\r\n`));
      extend(bytesOf(part.data));
      extend(bytesOf('\r\n'));
    }
    extend(bytesOf(`--${this.boundary}--\r\n`));
    return new Uint8Array(all).buffer;
  }
}

export default function () {
  const form = new Form();
  form.append('image', { data: image, filename: 'image.jpg', content_type: 'image/jpeg' });
  form.append('meta', {
    data: JSON.stringify({ id: __ITER, vu: __VU, name: 'picture', tags: ['a', 'b', 'c'] }),
    content_type: 'application/json',
  });
  http.post(__ENV.URL, form.body(), {
    headers: { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` },
  });
}
