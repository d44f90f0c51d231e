// onrush/delay: stamps, arrivals in handlers of both websocket modules, hops, sub-metrics of events, and refusals; against the
// target whose address is in TARGET.
import { check, sleep } from "k6";
import exec from "k6/execution";
import { setTimeout } from "k6/timers";
import { WebSocket } from "k6/websockets";
import ws from "k6/ws";
import { arrival, record, stamp } from "onrush/delay";
import { thrown } from "../../../../tests/lib/assert.js";

const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;

export const options = {
  scenarios: {
    blocking: { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "blocking" },
    events: { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "events" },
    made_up: { executor: "per-vu-iterations", vus: 1, iterations: 1, exec: "madeUp" },
  },
  thresholds: {
    checks: ["rate==1"],
    "message_sends{event:ask}": ["count==5"],
    "message_delay{event:ask}": ["min>=0"],
    "message_delay{event:known}": ["avg==10"],
    "message_hop{event:known,hop:up}": ["avg==2"],
    "message_hop{event:known,hop:inside}": ["avg==5"],
    "message_hop{event:known,hop:down}": ["avg==3"],
    "message_delay{event:coarse}": ["min==10", "max==10"],
    "message_delay{mine:ms}": ["avg==10"],
    "message_hop{event:coarse,hop:inside}": ["avg==5"],
    "message_delay": ["max>=10"],
    "message_delay{mine:own}": ["avg==-1.5"],
  },
};

const inInit = [stamp() > 1e15, thrown(() => stamp("ask")), thrown(() => record("ask", 1)), thrown(arrival)];

/** Whether an arrival lies between the sending of the message and now. */
function plausible(arrived, sent) {
  return Number.isInteger(arrived) && arrived >= sent && arrived <= stamp();
}

export function blocking() {
  const early = thrown(arrival);
  const seen = [];
  ws.connect(url, (socket) => {
    socket.on("open", () => socket.send(String(stamp("ask"))));
    socket.on("message", (text) => {
      const at = arrival();
      sleep(0.02);
      record("ask", Number(text));
      seen.push(plausible(at, Number(text)), arrival() === at, stamp() - at >= 20000);
      if (seen.length === 3) socket.sendBinary(new Float64Array([stamp("ask")]).buffer);
    });
    socket.on("binaryMessage", (bytes) => {
      const [sent] = new Float64Array(bytes);
      record("ask", [sent]);
      seen.push(plausible(arrival(), sent));
      socket.setTimeout(() => {
        seen.push(thrown(arrival).startsWith("TypeError"));
        socket.close();
      }, 1);
    });
  });
  check(seen, {
    "an arrival in handlers, which waiting does not move": (all) => all.length === 5 && all.every(Boolean),
    "none outside": () => [early, thrown(arrival)].every((text) => text.startsWith("TypeError: arrival: no message")),
  });
}

export async function events() {
  const seen = [];
  const socket = new WebSocket(url);
  socket.onopen = () => socket.send(String(stamp("ask")));
  socket.onmessage = async ({ data }) => {
    const text = typeof data === "string" ? data : await data.text();
    const at = arrival();
    record("ask", Number(text));
    seen.push(plausible(at, Number(text)));
    if (seen.length === 1) socket.send(new TextEncoder().encode(String(stamp("ask"))));
    else if (seen.length === 2) socket.send(String(stamp("ask")));
    else {
      await new Promise((done) => setTimeout(done, 1));
      seen.push(thrown(arrival).startsWith("TypeError"));
      socket.close();
    }
  };
  await new Promise((done) => (socket.onclose = done));
  check(seen, {
    "an arrival also behind a promise that waits for nothing": (all) => all.length === 4 && all.every(Boolean),
    "none in the handler of a close": () => thrown(arrival).startsWith("TypeError"),
  });
}

export function madeUp() {
  const now = stamp();
  record("known", [now - 10000, now - 8000, now - 3000], now);
  record("known", now - 10000, now);
  // Milliseconds of Date.now(), from the sender and from a server.
  const ms = Date.now();
  record("coarse", ms - 10, { unit: "ms", received: ms });
  record("coarse", [ms - 10, ms - 8, ms - 3], { unit: "ms", received: ms, tags: { mine: "ms" } });
  // The clock of the sender is ahead.
  record("behind", [now + 1500], now, { mine: "own" });
  const expected = "expected microseconds since 1970, as stamp() gives them";
  check(null, {
    "stamps are whole microseconds": () => Number.isInteger(now) && Math.abs(now / 1000 - Date.now()) < 60000,
    "stamps do not go back": () => stamp() >= now,
    "init code stamps and counts nothing": () =>
      inInit[0] &&
      inInit[1] === "TypeError: stamp(event) counts in a metric, which init code cannot" &&
      inInit[2] === "TypeError: record counts in a metric, which init code cannot" &&
      inInit[3].startsWith("TypeError"),
    "no receipt outside of handlers": () => thrown(() => record("known", now)).startsWith("TypeError: arrival: no message"),
    "two stamps": () =>
      thrown(() => record("known", [now, now], now)) ===
      "TypeError: record: there are 2 stamps, expected one, or three: [sent, server in, server out]",
    "no stamps": () => thrown(() => record("known", [], now)).startsWith("TypeError: record: there are 0 stamps"),
    "not a number": () => thrown(() => record("known", "12", now)) === `TypeError: record: the stamp is string, ${expected}`,
    "not finite": () =>
      thrown(() => record("known", [now, NaN, now], now)) ===
      `TypeError: record: the server's stamp of receipt is NaN, ${expected}`,
    "milliseconds": () =>
      thrown(() => record("known", 1e3 * Math.floor(now / 1e6), now)) ===
      `TypeError: record: the stamp is ${1e3 * Math.floor(now / 1e6)}, which looks like milliseconds, ${expected}; name another unit as in record('edit', stamps, { unit: 'ms' })`,
    "an unknown unit": () =>
      thrown(() => record("known", now, { unit: "min", received: now })) ===
      "TypeError: record: found the unit 'min', expected 'us', 'ms', 's' or 'ns'",
    "a unit that is not a text": () =>
      thrown(() => record("known", now, { unit: 3, received: now })) ===
      "TypeError: record: found the unit int, expected 'us', 'ms', 's' or 'ns'",
    "an unknown option": () =>
      thrown(() => record("known", now, { units: "ms" })) ===
      "TypeError: record: found the option 'units', expected unit, received or tags",
    "the wrong unit": () =>
      thrown(() => record("known", now, { unit: "ms", received: now / 1000 })) ===
      `TypeError: record: the stamp is ${now}, which looks like microseconds, expected milliseconds since 1970; name another unit as in record('edit', stamps, { unit: 'us' })`,
    "the future": () => thrown(() => record("known", now + 2 * 86400e6, now)).includes("more than a day from now"),
    "the past": () => thrown(() => record("known", now, now - 2 * 86400e6)).includes("the time of receipt is"),
    "no event": () =>
      thrown(() => record("", now, now)) === "TypeError: record: the event is empty, expected a name, as in record('edit', …)",
    "an event that is no name": () => thrown(() => stamp({})).startsWith("TypeError: stamp: the event is object"),
    "in a scenario": () => exec.scenario.name === "made_up",
  });
}
