// Streams of events: fields, times, closing, asking again, and what is no stream, against app.js, whose address is in TARGET.
// parity: skip stock k6 has no such module
import { check, sleep } from "k6";
import http from "k6/http";
import sse, { open } from "k6/x/sse";
import { thrown } from "../../../../tests/lib/assert.js";

const base = __ENV.TARGET;

export const options = {
  thresholds: {
    checks: ["rate==1"],
    "sse_event{part:lines}": ["count==3"],
    "sse_event{part:gaps}": ["count==5"],
    "sse_event_gap{part:gaps}": ["max>0"],
    "sse_first_event{part:gaps}": ["min>=39"],
    "sse_event_rate{part:gaps}": ["min>0"],
    "sse_event{name:named}": ["count==1"],
    "http_req_failed{part:closed}": ["rate==0"],
    "http_reqs{part:flaky}": ["count==4"],
    "http_req_duration{part:gaps}": ["min>150"],
  },
};

/** What the handlers hear, and the response. */
function hear(path, params, onEvent) {
  const heard = { opened: 0, events: [], errors: [] };
  heard.response = open(base + path, params, (client) => {
    heard.client = client;
    client.on("open", () => heard.opened++);
    client.on("event", (event) => {
      heard.events.push(event);
      if (onEvent) onEvent(event, client);
    });
    client.on("error", (error) => heard.errors.push(`${error.error()}|${error}`));
  });
  return heard;
}

const inInit = thrown(() => open(base, () => {}));

export default function () {
  check(sse, {
    "exports": (m) => m.open === open && Object.keys(m).join() === "open",
    "refused in init code": () => inInit === "GoError: using sse in the init context is not supported",
    "arguments": () => thrown(() => open(base)) === "GoError: invalid number of arguments to sse.open",
    "no function": () => thrown(() => open(base, {}, 5)) === "GoError: last argument to sse.open must be a function",
  });

  const lines = hear("/lines", { tags: { part: "lines" } });
  check(lines, {
    "opened once": (h) => h.opened === 1 && h.errors.length === 0,
    "fields": (h) => JSON.stringify(h.events.map(({ id, comment, name, data }) => [id, comment, name, data])) ===
      JSON.stringify([["a1", "first", "greeting", "one\ntwo"], ["", "", "", ""], ["", "alone", "", "ü"]]),
    "response": ({ response: r }) => r.status === 200 && r.url === `${base}/lines` && r.error === "" && r.body === "" &&
      r.headers["Content-Type"] === "text/event-stream; charset=utf-8",
  });

  const gaps = hear("/gaps", { tags: { part: "gaps" } });
  check(gaps.events, {
    "no event is early": (e) => e.every((event, i) => event.at > 40 * (i + 1) - 1),
  });
  // The script is late; the times are not.
  const handled = [];
  const late = hear("/gaps", {}, () => {
    handled.push(Date.now());
    sleep(0.1);
  });
  check(late.events, {
    "a slow script does not move them": (e) => e.length === 5 && e[4].at - e[0].at < handled[4] - handled[0] - 100,
  });

  let after = 0;
  const closed = hear("/endless", { tags: { part: "closed" } }, (event, client) => {
    if (after++ === 2) client.close();
  });
  check(closed, {
    "closed by the script": (h) => h.events.length === 3 && h.response.status === 200 && h.errors.length === 0,
    "a closed client hears nothing": (h) => (h.client.on("event", () => {}), h.client.close(), true),
  });

  const sent = hear("/echo", { method: "POST", body: "question", headers: { Accept: "own/type" }, tags: { name: "named" } });
  check(sent.events[0], { "method, body, headers": (e) => e.name === "POST" && e.data === "question\nown/type" });
  check(hear("/echo").events[0], { "without params": (e) => e.name === "GET" && e.data === "\ntext/event-stream" });

  const flaky = hear("/flaky", { reconnect: true, tags: { part: "flaky" } });
  check(flaky, {
    "asked again with the last id": (h) => h.events.map((e) => e.data).join() === "0 after null,1 after 0,2 after 1",
    "204 ends it": (h) => h.opened === 3 && h.response.status === 204 && h.response.error === "",
  });
  hear("/lines", { reconnect: 2, headers: { "X": "y" } }, (event, client) => event.id === "a1" && client.close());
  check(http.get(`${base}/count`).json(), { "a closed stream is not asked for again": (c) => c["/lines"] === 2 });

  const page = hear("/page");
  const expected = "expected 200 and \"text/event-stream\"";
  check(page, {
    "a page is an error": (h) => h.opened === 0 && h.errors.length === 1 && h.response.error === h.errors[0].split("|")[0] &&
      h.response.error === `the answer is no stream of events: status 200, content type "text/plain"; ${expected}`,
    "its body is there": (h) => h.response.status === 200 && h.response.body === "a page\n",
  });
  check(hear("/missing"), {
    "another status is one too": (h) => h.opened === 0 && h.events.length === 0 && h.response.body === "data: none\n\n" &&
      h.errors[0].startsWith("the answer is no stream of events: status 404"),
  });
  check(hear("/large"), {
    "too large an event": (h) => h.errors[0].split("|")[0].endsWith("larger than 16 MiB, expected an empty line before"),
  });
  const refused = open("http://127.0.0.1:1/", () => {});
  check(refused, { "no connection": (r) => r.status === 0 && r.error.includes("connection refused") });
  check(open(base + "/endless", { timeout: 60 }, () => {}), { "a timeout": (r) => r.error.includes("timeout") });

  check(thrown(() => hear("/gaps", {}, () => { throw new Error("mine"); })), {
    "what a handler throws": (text) => text === "Error: mine",
  });

  // The param of k6/http.
  const got = [];
  const response = http.get(`${base}/gaps`, { onEvent: (event) => { got.push(event.data); } });
  check(response, { "onEvent": (r) => r.status === 200 && r.body === null && got.join() === "0,1,2,3,4" });
  let count = 0;
  const cut = http.post(`${base}/endless`, "body", { onEvent: () => ++count < 2, tags: { part: "closed" } });
  check(cut, { "false ends it": (r) => r.status === 200 && r.error === "" && count === 2 });
  const plain = http.get(`${base}/page`, { onEvent: () => { count = -1; } });
  check(plain, { "another type is a body": (r) => r.body === "a page\n" && count === 2 });
  check(thrown(() => http.get(`${base}/gaps`, { onEvent: 5 })), {
    "no function is no request": (text) => text === "" || text.includes("onEvent is int, expected a function"),
    "throwing": () => thrown(() => http.get(`${base}/gaps`, { onEvent: () => { throw new Error("mine"); } })) === "Error: mine",
  });
}
