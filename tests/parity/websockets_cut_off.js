// A session that the end of the test cuts off has no duration, with either module.
import ws from "k6/ws";
import { WebSocket } from "k6/websockets";

const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;
const once = { executor: "constant-vus", vus: 1, duration: "1s", gracefulStop: "0s" };

export const options = {
  scenarios: { new: { ...once, exec: "newer" }, old: { ...once, exec: "older" } },
  thresholds: { ws_session_duration: ["max==0"], ws_sessions: ["count==2"] },
};

export function newer() {
  new WebSocket(url).onopen = () => {};
}

export function older() {
  ws.connect(url, null, () => {});
}
