// npm's socket.io server with the events that the test script of onrush/socketio asks for. Prints its port, and serves until its
// standard input ends. Pings come often, so that a run of some seconds sees several.
const { createServer } = require('http');
const { Server } = require('socket.io');

const http = createServer();
const io = new Server(http, { pingInterval: 300, pingTimeout: 1500 });

function echo(socket) {
  socket.on('echo', (...values) => {
    const answer = values.at(-1);
    if (typeof answer === 'function') answer(...values.slice(0, -1));
    else socket.emit('echo', ...values);
  });
}

io.on('connection', (socket) => {
  echo(socket);
  socket.on('join', (room, answer) => {
    socket.join(room);
    answer('ok');
  });
  socket.on('say', (room, text) => socket.to(room).emit('said', text));
  socket.on('ask', () => socket.emit('question', 5, (value) => socket.emit('answered', value)));
  socket.on('kick', () => socket.disconnect());
  socket.on('drop', () => socket.conn.close());
  socket.on('transport', (answer) => answer(socket.conn.transport.name));
  socket.on('handshake', (answer) => {
    const { auth, query, headers } = socket.handshake;
    answer({ auth, query, header: headers['x-own'] });
  });
});

const admin = io.of('/admin');
admin.use((socket, next) => {
  if (socket.handshake.auth.token === 'good') return next();
  next(Object.assign(new Error('not authorized'), { data: { why: 'token' } }));
});
admin.on('connection', (socket) => {
  echo(socket);
  socket.emit('hi', socket.nsp.name);
});

http.listen(0, '127.0.0.1', () => console.log(http.address().port));
process.stdin.on('end', () => process.exit()).resume();
