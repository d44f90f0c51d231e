// An error in a listener ends the iteration; the socket hears of it, with its place.
import { check } from "k6";
import { WebSocket } from "k6/websockets";

export const options = { thresholds: { checks: ["count==3", "rate==1"], iterations: ["count==1"] } };

export default function () {
  const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`);
  socket.onopen = () => socket.send("a");
  socket.onerror = (event) => {
    check(event.error, {
      "the error": (error) => error.startsWith("Error: in a listener at file:"),
      "its place": (error) => /websockets_throws\.js:18:\d+/.test(error),
    });
  };
  socket.onclose = () => check(socket, { "closed": (s) => s.readyState === 3 });
  socket.onmessage = () => {
    throw new Error("in a listener");
  };
}
