// parity: console
// The iteration ends when all sockets have.
import { WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

export default function () {
  for (const name of ["one", "two"]) {
    const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`, ["first", "second"]);
    socket.onopen = () => {
      socket.close();
    };
    socket.onclose = () => console.log("closed", socket.protocol);
  }
  console.log("function ends", __ITER);
}
