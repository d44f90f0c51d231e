// parity: console
// A handler that is taken away, replaced, or none.
import { WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

export default function () {
  const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`);
  console.log(socket.onmessage, socket.onopen);
  socket.onopen = () => {
    socket.send("a");
  };
  let count = 0;
  socket.addEventListener("message", () => {
    count += 1;
    console.log("listener", count);
    if (count === 1) {
      socket.onmessage = () => console.log("replaced");
      socket.send("b");
    } else if (count === 2) {
      socket.onmessage = null;
      socket.send("c");
    } else if (count === 3) {
      socket.onmessage = undefined;
      socket.send("d");
    } else {
      socket.close();
    }
  });
  socket.onmessage = () => console.log("first");
  try {
    socket.onerror = 5;
    console.log(socket.onerror);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
