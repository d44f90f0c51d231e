// parity: console
// Nothing is delivered after close(); what is buffered is counted.
import { WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

export default function () {
  const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`);
  socket.onopen = () => {
    for (let i = 0; i < 5; i++) socket.send(`message ${i}`);
    console.log(socket.bufferedAmount);
  };
  socket.onmessage = (event) => {
    console.log(event.data);
    socket.close();
  };
  socket.onclose = (event) => console.log("close", event.code, event.reason, socket.bufferedAmount);
}
