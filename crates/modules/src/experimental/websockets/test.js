// The older name gives the classes of k6/websockets. Runs under k6 as well.
import { check } from "k6";
import { Blob, WebSocket } from "k6/experimental/websockets";

export const options = { thresholds: { checks: ["rate==1"], ws_msgs_received: ["count==1"] } };

export default function () {
  const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`);
  socket.onopen = () => socket.send("x");
  socket.onmessage = (event) => {
    check(event.data, { "echoed": (data) => data === "x" && new Blob([data]).size === 1 });
    socket.close();
  };
}
