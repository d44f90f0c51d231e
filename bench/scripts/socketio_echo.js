// onrush/socketio: one event under way on each connection, and its echo or its acknowledgement. bench/socketio/client.cjs is the same.
import { io } from 'onrush/socketio';
import { handleSummary } from './summary.js';

export const options = {
  scenarios: { echo: { executor: 'per-vu-iterations', vus: Number(__ENV.USERS), iterations: 1, maxDuration: '120s' } },
};
export { handleSummary };

const form = __ENV.FORM;
const count = Number(__ENV.ECHOES);
const value = form.includes('binary') ? new Uint8Array(100).fill(7).buffer : 'x'.repeat(100);

export default function () {
  const socket = io(__ENV.URL, { transports: ['websocket'], forceNew: true });
  let got = 0;
  const send = form.includes('ack') ? () => socket.emit('echo', value, next) : () => socket.emit('echo', value);
  function next() {
    if (++got === count) socket.disconnect();
    else send();
  }
  socket.on('echo', next);
  socket.on('connect', send);
}
