// parity: console
// The server closes, or breaks off.
import { WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

export default function () {
  const base = `ws${__ENV.TARGET.slice(4)}`;
  const next = (paths) => {
    if (paths.length === 0) return;
    const socket = new WebSocket(base + paths[0]);
    socket.onerror = (event) => console.log(paths[0], "error", event.error);
    socket.onclose = (event) => {
      console.log(paths[0], "close", event.code, event.reason);
      next(paths.slice(1));
    };
  };
  next(["/ws/close/1000?reason=bye", "/ws/close/3005", "/ws/fault/drop", "/ws/fault/bad-frame"]);
}
