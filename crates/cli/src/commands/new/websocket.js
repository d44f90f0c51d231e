import { check } from "k6";
import { Trend } from "k6/metrics";
import { WebSocket } from "k6/websockets";

// Where sockets go: `onrush run -e TARGET_WS=wss://example.com script.js`, or `onrush run --serve script.js`.
const TARGET = __ENV.TARGET_WS || "ws://127.0.0.1:8080";
const MESSAGES = 10;

const roundTrip = new Trend("round_trip", true);

export const options = {
  vus: 10,
  duration: "30s",
  thresholds: { checks: ["rate>0.99"], round_trip: ["p(95)<200"] },
};

// The iteration ends when its sockets are closed.
export default function () {
  const socket = new WebSocket(`${TARGET}/ws/echo`);
  let received = 0;
  let sent = 0;

  const send = () => {
    sent = Date.now();
    socket.send(`message ${received}`);
  };

  socket.onopen = send;
  socket.onmessage = (event) => {
    roundTrip.add(Date.now() - sent);
    check(event.data, { "the echo is right": (data) => data === `message ${received}` });
    received += 1;
    if (received === MESSAGES) socket.close();
    else setTimeout(send, 100);
  };
  socket.onerror = (event) => console.error(event.error);
}
