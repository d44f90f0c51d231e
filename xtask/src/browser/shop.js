import http from "k6/http";
import { check, group, sleep } from "k6";
import exec from "k6/execution";
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

const render = new Trend("render_time", true);
const items = new Trend("items_in_cart");
const orders = new Counter("orders");
const queue = new Gauge("queue_length");
const cached = new Rate("served_from_cache");

export const options = {
  scenarios: {
    browse: {
      executor: "ramping-vus",
      startVUs: 1,
      stages: [{ duration: "4s", target: 8 }, { duration: "4s", target: 2 }],
      gracefulRampDown: "1s",
    },
    buy: { executor: "constant-arrival-rate", exec: "buy", rate: 20, duration: "8s", preAllocatedVUs: 5 },
  },
  thresholds: {
    http_req_duration: ["p(95)<100", "max<2000"],
    "http_req_duration{scenario:browse}": ["p(99)<1000"],
    checks: ["rate>0.5"],
  },
};

export function setup() {
  http.get(`${__ENV.TARGET}/get`);
}

export default function () {
  const seconds = exec.instance.currentTestRunDuration / 1000;
  const slow = seconds > 4 && seconds < 5;
  const page = http.get(`${__ENV.TARGET}/delay/${slow ? 0.3 : 0.005 + Math.random() * 0.02}`, { tags: { name: "a <page>" } });
  check(page, { "page is 200": (r) => r.status === 200 });
  group("pictures", () => {
    const picture = http.get(`${__ENV.TARGET}/status/${slow && Math.random() < 0.3 ? 503 : 200}`);
    check(picture, { "picture is <200>": (r) => r.status === 200 });
  });
  render.add(3 + Math.random() * 10);
  cached.add(Math.random() < 0.7);
  queue.add(Math.round(10 + 8 * Math.sin(seconds)));
  sleep(0.05);
}

export function buy() {
  http.post(`${__ENV.TARGET}/post`, "x".repeat(2000));
  items.add(Math.ceil(Math.random() * 9));
  if (Math.random() < 0.4) orders.add(1);
}
