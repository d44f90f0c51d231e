// A small GET.
import http from 'k6/http';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

export default function () {
  http.get(__ENV.URL);
}
