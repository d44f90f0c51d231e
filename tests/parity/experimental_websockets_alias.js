// parity: log
// The old name of k6/websockets.
import { WebSocket } from "k6/experimental/websockets";

export const options = { iterations: 1 };

export default function () {
  const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`);
  socket.onopen = () => socket.close();
}
