// An upload of a file that is read while it is sent (not for k6, which has no such thing).
import http from 'k6/http';
import { FileStream } from 'onrush/fs';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const body = new FileStream(__ENV.BODY);
const params = { headers: { 'Content-Type': 'application/octet-stream' } };

export default function () {
  http.post(__ENV.URL, body, params);
}
