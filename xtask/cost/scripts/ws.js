import ws from 'k6/ws';

const message = 'x'.repeat(100);

export default function () {
  let left = Number(__ENV.MESSAGES);
  ws.connect(`${__ENV.URL.replace('http', 'ws')}ws/echo`, {}, (socket) => {
    socket.on('open', () => socket.send(message));
    socket.on('message', () => {
      left -= 1;
      if (left > 0) socket.send(message);
      else socket.close();
    });
  });
}
