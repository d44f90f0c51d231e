// CLIENTS users, each LOOPS times: a new connection, REQUESTS requests over it.
import http from 'k6/http';
import { Trend } from 'k6/metrics';
export { handleSummary } from './summary.js';

const { URL, CLIENTS, LOOPS, REQUESTS, SOCKET } = __ENV;
// Its minimum and maximum are the first and the last moment of the load.
const moment = new Trend('moment');

export const options = {
  scenarios: {
    clients: { executor: 'per-vu-iterations', vus: Number(CLIENTS), iterations: Number(LOOPS), maxDuration: '5m' },
  },
  noVUConnectionReuse: true,
  insecureSkipTLSVerify: true,
  discardResponseBodies: true,
  hosts: SOCKET ? { 'socket.test': `unix:${SOCKET}` } : {},
  summaryTrendStats: ['min', 'max', 'p(5)', 'p(10)', 'p(20)', 'p(40)', 'p(50)', 'p(60)', 'p(80)', 'p(90)', 'p(95)'],
};

export default function () {
  moment.add(Date.now());
  for (let n = 0; n < REQUESTS; n++) http.get(URL);
  moment.add(Date.now());
}
