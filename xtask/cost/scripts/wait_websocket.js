import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`${__ENV.URL.replace('http', 'ws')}ws/echo`);
  socket.onopen = () => socket.send('here');
}
