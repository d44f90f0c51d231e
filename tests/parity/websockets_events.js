// parity: console
// The life of a socket of k6/websockets.
import { WebSocket } from "k6/websockets";

const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;

export const options = { iterations: 1 };

export default function () {
  const socket = new WebSocket(url, null, { tags: { own: "1" } });
  socket.binaryType = "arraybuffer";
  console.log(socket.readyState, socket.url === url, socket.protocol, socket.extensions);
  socket.addEventListener("open", () => {
    console.log("open", socket.readyState);
    socket.send("text");
    socket.send(new Uint8Array([1, 2, 3]));
    socket.ping();
  });
  let left = 3;
  const done = () => --left === 0 && socket.close(3001, "done");
  socket.addEventListener("message", (event) => {
    console.log("message", typeof event.data === "string" ? event.data : event.data.byteLength);
    done();
  });
  socket.addEventListener("pong", () => done());
  socket.addEventListener("close", (event) => console.log("close", event.code, event.reason, socket.readyState));
  socket.addEventListener("error", (event) => console.log("error", event.error));
}
