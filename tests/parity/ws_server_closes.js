// parity: console
// The server closes, or breaks off.
import ws from "k6/ws";

export const options = { iterations: 1 };

export default function () {
  const base = `ws${__ENV.TARGET.slice(4)}`;
  for (const path of ["/ws/close/1000?reason=bye", "/ws/close/3005", "/ws/fault/drop", "/ws/fault/bad-frame"]) {
    const response = ws.connect(base + path, (socket) => {
      socket.on("close", (code) => console.log(path, "close", code));
      socket.on("error", (error) => console.log(path, "error", error.error()));
    });
    console.log(path, response.status);
  }
}
