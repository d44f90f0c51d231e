// Many VUs that send a request a second each, on schedules of their own spread over the second. A schedule, and not a sleep of
// one second after each request: that would ask for a second and the time of the request, so for fewer requests than the title says.
import http from 'k6/http';
import { sleep } from 'k6';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const users = Number(__ENV.VUS);
let due;

export default function () {
  const now = Date.now();
  if (due === undefined) due = now + (1000 * (__VU - 1)) / users;
  if (due > now) sleep((due - now) / 1000);
  http.get(__ENV.URL);
  due += 1000;
}
