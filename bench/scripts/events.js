// One stream of events a user, begun one after the other, so that the events of all are spread over the second. For bench/events.py.
import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Trend } from 'k6/metrics';
import { stamp } from 'onrush/delay';
import { handleSummary } from './summary.js';

const users = Number(__ENV.USERS);
const ramp = Number(__ENV.RAMP);
const events = Number(__ENV.EVENTS);
export const options = {
  scenarios: { streams: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: `${ramp + events + 60}s` } },
  summaryTrendStats: ['count', 'min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max'],
};
export { handleSummary };

// How far the distance from the stream's first event is from the planned one, by the times of arrival and by the server's own stamps.
const error = new Trend('event_error', true);
const serverError = new Trend('event_error_of_server', true);
// From the server's stamp in the event to the kernel's of its arrival here.
const delay = new Trend('event_delay', true);
// From the arrival to the script.
const handling = new Trend('event_handling', true);

/** When all users are to have begun. */
export const setup = () => stamp() / 1000 + 1000;

export default function (begin) {
  const own = begin + ((exec.vu.idInTest - 1) / users) * ramp * 1000;
  sleep(Math.max(0, own - stamp() / 1000) / 1000);
  // While others connect nothing is recorded.
  const steady = begin + ramp * 1000 + 2000;
  let first;
  const asked = stamp() / 1000;
  http.get(`${__ENV.URL}/sse?count=${events}&duration=${events - 1}s&stamp=1`, {
    timeout: '300s',
    onEvent: ({ at, data }) => {
      const { ms, sent: micros } = JSON.parse(data);
      const [sent, arrived] = [micros / 1000, asked + at];
      first ??= { sent, arrived };
      if (sent < steady) return;
      error.add(Math.abs(arrived - first.arrived - ms));
      serverError.add(Math.abs(sent - first.sent - ms));
      delay.add(arrived - sent);
      handling.add(stamp() / 1000 - arrived);
    },
  });
}
