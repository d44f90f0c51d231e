// parity: console
// Timers of a socket.
import ws from "k6/ws";

export const options = { iterations: 1 };

export default function () {
  ws.connect(`ws${__ENV.TARGET.slice(4)}/ws/echo`, (socket) => {
    let ticks = 0;
    socket.setInterval(() => console.log("tick", ++ticks), 100);
    socket.setTimeout(() => console.log("timeout"), 250);
    socket.setTimeout(() => socket.close(3001), 450);
    socket.on("close", (code) => console.log("close", code));
    for (const wrong of [-1, 0]) {
      try {
        socket.setTimeout(() => {}, wrong);
        console.log("taken", wrong);
      } catch (error) {
        console.log(error.name, error.message);
      }
    }
  });
}
