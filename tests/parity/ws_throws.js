// parity: console
// A handler that throws ends the iteration.
import ws from "k6/ws";

export const options = { iterations: 1 };

export default function () {
  ws.connect(`ws${__ENV.TARGET.slice(4)}/ws/echo`, (socket) => {
    socket.on("open", () => socket.send("x"));
    socket.on("message", () => {
      throw new Error("in a handler");
    });
    socket.on("close", (code) => console.log("close", code));
  });
  console.log("never");
}
