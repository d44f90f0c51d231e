// parity: console
// What sockets refuse.
import { WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

const tried = (work) => {
  try {
    console.log(work());
  } catch (error) {
    console.log(error.name, error.message);
  }
};

export default function () {
  const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;
  tried(() => new WebSocket());
  tried(() => new WebSocket(""));
  tried(() => new WebSocket("not a url"));
  tried(() => new WebSocket("ftp://a.test"));
  tried(() => new WebSocket(url, null, { unknown: 1 }));
  const socket = new WebSocket(url);
  tried(() => socket.send("too early"));
  tried(() => (socket.binaryType = "text"));
  tried(() => socket.addEventListener("unknown", () => {}));
  tried(() => socket.addEventListener("open"));
  socket.onopen = () => {
    tried(() => socket.send(5));
    tried(() => socket.send({}));
    tried(() => socket.send(null));
    tried(() => socket.close(1001));
    tried(() => socket.close(5000));
    tried(() => socket.close(1000, "x".repeat(124)));
    tried(() => socket.close());
    tried(() => socket.send("late"));
    tried(() => socket.close());
  };
}
