// parity: console
// What a handler adds or changes is for the next event.
import { WebSocket } from "k6/websockets";
import ws from "k6/ws";

const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;

export const options = { iterations: 1 };

export default function () {
  const log = [];
  ws.connect(url, null, (socket) => {
    socket.on("open", () => {
      log.push("open");
      socket.on("open", () => log.push("late open"));
      socket.send("x");
    });
    socket.on("message", (text) => {
      log.push(text);
      socket.on("message", (again) => log.push(`late ${again}`));
      if (text === "x") socket.send("y");
      else socket.close();
    });
    socket.on("close", () => socket.on("close", () => log.push("late close")));
  });
  console.log(log.join("; "));

  const socket = new WebSocket(url);
  const events = [];
  socket.addEventListener("open", () => {
    events.push("listener");
    socket.addEventListener("open", () => events.push("late of the listener"));
  });
  socket.onopen = () => {
    events.push("own");
    socket.onopen = () => events.push("new own");
    socket.addEventListener("open", () => events.push("late of own"));
    socket.send("x");
  };
  socket.onmessage = ({ data }) => {
    events.push(`own ${data}`);
    socket.addEventListener("message", (event) => {
      events.push(`first ${event.data}`);
      socket.addEventListener("message", (last) => {
        events.push(`second ${last.data}`);
        socket.close();
      });
      if (event.data !== "z") socket.send("z");
    });
    if (data === "x") socket.send("y");
  };
  socket.onclose = () => {
    events.push("close");
    socket.addEventListener("close", () => events.push("late close"));
    socket.onclose = null;
  };
  setTimeout(() => console.log(events.join("; ")), 300);
}
