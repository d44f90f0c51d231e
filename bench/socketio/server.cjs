// npm's socket.io server: sends events back, or acknowledges them, in `/` and in `/admin`. Prints its port, and says how many events it
// answered for each line of its standard input. Ends with that input.
const { createServer } = require('http');
const { createInterface } = require('readline');
const { Server } = require('socket.io');

const http = createServer();
const io = new Server(http);
let answered = 0;

for (const namespace of ['/', '/admin']) {
  io.of(namespace).on('connection', (socket) => {
    socket.on('echo', (value, answer) => {
      answered++;
      if (typeof answer === 'function') answer(value);
      else socket.emit('echo', value);
    });
  });
}
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
createInterface({ input: process.stdin }).on('line', () => console.log(answered)).on('close', () => process.exit());
