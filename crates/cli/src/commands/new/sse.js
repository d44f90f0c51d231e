import sse from "k6/x/sse";
import { check } from "k6";

// Where requests go: `onrush run -e TARGET=https://example.com script.js`, or `onrush run --serve script.js`.
const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";
const EVENTS = 5;

export const options = {
  vus: 10,
  duration: "30s",
  thresholds: { checks: ["rate>0.99"] },
};

export default function () {
  let received = 0;
  const response = sse.open(`${TARGET}/sse?count=${EVENTS}&delay=100ms`, {}, (client) => {
    client.on("event", (event) => {
      received += 1;
      if (received === EVENTS) client.close();
    });
    client.on("error", (error) => console.error(error.error()));
  });
  check(response, {
    "status is 200": (r) => r.status === 200,
    "all events arrived": () => received === EVENTS,
  });
}
