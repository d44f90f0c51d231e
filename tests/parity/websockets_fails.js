// parity: console
// Sockets that do not open.
import { WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

export default function () {
  const base = `ws${__ENV.TARGET.slice(4)}`;
  const next = (urls) => {
    if (urls.length === 0) return;
    const socket = new WebSocket(urls[0]);
    socket.onerror = (event) => console.log(urls[0].replace(base, ""), "error", event.error);
    socket.onclose = (event) => {
      console.log(urls[0].replace(base, ""), "close", event.code, socket.readyState);
      next(urls.slice(1));
    };
  };
  next(["ws://127.0.0.1:1/", `${base}/status/404`, `${base}/`]);
}
