// parity: console
// The life of a socket.
import ws from "k6/ws";

const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;

export const options = { iterations: 1 };

export default function () {
  const response = ws.connect(url, { tags: { own: "1" } }, (socket) => {
    socket.on("open", () => {
      console.log("open");
      socket.send("text");
    });
    socket.on("message", (message) => {
      console.log("message", message);
      socket.sendBinary(new Uint8Array([1, 2]).buffer);
    });
    socket.on("binaryMessage", (message) => {
      console.log("binary", message.byteLength);
      socket.ping();
    });
    socket.on("pong", () => {
      console.log("pong");
      socket.close();
    });
    socket.on("close", (code) => console.log("close", code));
    socket.on("error", (error) => console.log("error", error.error()));
  });
  console.log(response.status, response.url === url, response.error, response.body, Object.keys(response).sort().join());
  console.log(response.headers.Upgrade, response.headers.Connection);
}
