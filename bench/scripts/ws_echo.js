// k6/ws: each VU has one socket and one message under way: what comes back is sent again, until the time is up.
import ws from 'k6/ws';
import { handleSummary } from './summary.js';

const seconds = parseFloat(__ENV.DURATION);
export const options = {
  scenarios: {
    echo: { executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, maxDuration: `${Math.ceil(seconds) + 10}s` },
  },
};
export { handleSummary };

const message = 'x'.repeat(Number(__ENV.SIZE || 100));

export default function () {
  ws.connect(__ENV.URL, {}, (socket) => {
    socket.on('open', () => socket.send(message));
    socket.on('message', () => socket.send(message));
    socket.setTimeout(() => socket.close(), seconds * 1000);
  });
}
