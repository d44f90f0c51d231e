// Sockets that are open and silent, one a VU: what they take in memory. MODULE is k6/ws or k6/websockets.
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import { handleSummary } from './summary.js';

const seconds = parseFloat(__ENV.DURATION);
export const options = {
  scenarios: {
    idle: { executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, maxDuration: `${Math.ceil(seconds) + 30}s` },
  },
};
export { handleSummary };

export default function () {
  if (__ENV.MODULE === 'k6/ws') {
    ws.connect(__ENV.URL, {}, (socket) => {
      socket.on('message', () => {});
      socket.setTimeout(() => socket.close(), seconds * 1000);
    });
    return;
  }
  const socket = new WebSocket(__ENV.URL);
  socket.onmessage = () => {};
  socket.onopen = () => setTimeout(() => socket.close(), seconds * 1000);
}
