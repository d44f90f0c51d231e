// npm's socket.io-client: one event under way on each connection, and its echo or its acknowledgement. scripts/socketio_echo.js is the same.
const { io } = require('socket.io-client');

const { URL: url, FORM: form, ECHOES, USERS } = process.env;
const count = Number(ECHOES);
const value = form.includes('binary') ? Buffer.alloc(100, 7) : 'x'.repeat(100);

for (let user = 0; user < Number(USERS); user++) {
  const socket = io(url, { transports: ['websocket'], forceNew: true });
  let got = 0;
  const send = form.includes('ack') ? () => socket.emit('echo', value, next) : () => socket.emit('echo', value);
  function next() {
    if (++got === count) socket.disconnect();
    else send();
  }
  socket.on('echo', next);
  socket.on('connect', send);
}
