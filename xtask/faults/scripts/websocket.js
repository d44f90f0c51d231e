// A WebSocket that gets back what it sends.
import { WebSocket } from 'k6/websockets';
import { setTimeout } from 'k6/timers';
import { check } from 'k6';

export const options = { vus: 2, duration: '1s' };

export default function () {
  const socket = new WebSocket(__ENV.TARGET.replace('http', 'ws') + '/ws/echo');
  socket.onopen = () => {
    for (let i = 0; i < 5; i++) socket.send(`message ${i}`);
    setTimeout(() => socket.close(), 100);
  };
  socket.onmessage = (event) => check(event, { 'a message': (e) => e.data.length > 0 });
  socket.onerror = () => socket.close();
}
