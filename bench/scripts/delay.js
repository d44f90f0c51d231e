// One cell of bench/delay.py: delays by onrush/delay of messages that the target holds, against the time for which it says it held
// them. URL, MODULE (ws or websockets), USERS, MESSAGES, LATENCY_MS of the link, BURN: a user beside them that computes.
import { sleep } from 'k6';
import { setTimeout } from 'k6/timers';
import { Trend } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';
import { arrival, stamp } from 'onrush/delay';
export { handleSummary } from './summary.js';

const { URL, MODULE, SECONDS } = __ENV;
const [users, messages, latency] = [__ENV.USERS, __ENV.MESSAGES, __ENV.LATENCY_MS].map(Number);
// What was measured less what is known: held by the server, and the link's round trip. By arrival(), and by a reading in the handler.
const error = new Trend('delay_error', true);
const errorOfHandlers = new Trend('handler_error', true);

const talkers = { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '5m', exec: MODULE };
if (latency > 0) talkers.network = { latency: `${latency}ms` };
export const options = {
  insecureSkipTLSVerify: true,
  scenarios: {
    talkers,
    ...(__ENV.BURN && { burner: { executor: 'constant-vus', vus: 1, duration: `${SECONDS}s`, gracefulStop: '1s', exec: 'burn' } }),
  },
  summaryTrendStats: ['min', 'med', 'p(99)', 'max', 'count'],
};

// Users out of step with each other and with the burner.
const pause = () => 5 + Math.random() * 30;

function judge(text) {
  const now = stamp();
  const [sent, came, left] = JSON.parse(text);
  const known = left - came + latency * 1000;
  error.add((arrival() - sent - known) / 1000);
  errorOfHandlers.add((now - sent - known) / 1000);
}

function blocking() {
  let left = messages;
  ws.connect(URL, {}, (socket) => {
    const say = () => socket.send(String(stamp()));
    socket.on('open', () => socket.setTimeout(say, pause()));
    socket.on('message', (text) => {
      judge(text);
      if (--left > 0) socket.setTimeout(say, pause());
      else socket.close();
    });
    socket.on('error', (e) => { throw new Error(e.error()); });
  });
}

function events() {
  let left = messages;
  const socket = new WebSocket(URL);
  const say = () => socket.send(String(stamp()));
  socket.onopen = () => setTimeout(say, pause());
  socket.onmessage = ({ data }) => {
    judge(data);
    if (--left > 0) setTimeout(say, pause());
    else socket.close();
  };
  socket.onerror = ({ error: why }) => { throw new Error(why); };
}

export { blocking as ws, events as websockets };

// Computes for 20 ms at a time, half of the time.
export function burn() {
  for (const end = Date.now() + 20; Date.now() < end; );
  sleep(0.02);
}
