// k6/websockets: the same as ws_echo.js on the event loop.
import { WebSocket } from 'k6/websockets';
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
  const socket = new WebSocket(__ENV.URL);
  socket.onopen = () => {
    socket.send(message);
    setTimeout(() => socket.close(), seconds * 1000);
  };
  socket.onmessage = () => socket.send(message);
}
