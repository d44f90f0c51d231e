// WebSocket: messages that are echoed, the next one when the last has come back; an iteration is a connection of 1,000.
import { check } from 'k6';
import { WebSocket } from 'k6/websockets';
import { closed, done } from './operation.js';

export const options = closed();

const MESSAGES = 1000;

export default function () {
  const socket = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  let received = 0;
  let sent = 0;
  const send = () => {
    sent = Date.now();
    socket.send(`message ${received}`);
  };
  socket.onopen = send;
  socket.onmessage = (event) => {
    const isEcho = (data) => data === `message ${received}`;
    if (check(event.data, { 'the echo is right': isEcho })) done(Date.now() - sent);
    received += 1;
    if (received === MESSAGES) socket.close();
    else send();
  };
}
