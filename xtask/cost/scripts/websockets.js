import { WebSocket } from 'k6/websockets';

const message = 'x'.repeat(100);

export default function () {
  let left = Number(__ENV.MESSAGES);
  const socket = new WebSocket(`${__ENV.URL.replace('http', 'ws')}ws/echo`);
  socket.onopen = () => socket.send(message);
  socket.onmessage = () => {
    left -= 1;
    if (left > 0) socket.send(message);
    else socket.close();
  };
}
