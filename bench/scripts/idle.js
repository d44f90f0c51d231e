// Many VUs that do little.
import http from 'k6/http';
import { sleep } from 'k6';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

export default function () {
  http.get(__ENV.URL);
  sleep(1);
}
