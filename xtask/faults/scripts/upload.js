// Uploads to the target of the same process: bytes, and a form.
import http from 'k6/http';
import { check, sleep } from 'k6';
import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';

export const options = { vus: 2, duration: '1s' };
const bytes = new Uint8Array(100 * 1024).fill(7).buffer;

export default function () {
  const plain = http.post(`${__ENV.TARGET}/post`, bytes);
  check(plain, { 'status is 200': (r) => r.status === 200 });
  const form = new FormData();
  form.append('name', 'value');
  form.append('file', http.file(bytes, 'a.bin'));
  const headers = { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` };
  const sent = http.post(`${__ENV.TARGET}/post`, form.body(), { headers });
  check(sent, { 'form arrived': (r) => r.status === 200 });
  sleep(0.05);
}
