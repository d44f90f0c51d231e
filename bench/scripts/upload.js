// An upload from memory: what open(path, 'b') gives goes to the socket from where it lies.
import http from 'k6/http';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const body = open(__ENV.BODY, 'b');
const params = { headers: { 'Content-Type': 'application/octet-stream' } };

export default function () {
  http.post(__ENV.URL, body, params);
}
