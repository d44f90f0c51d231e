// What test.js asks: streams of events of all kinds. `/gaps` leaves pauses of 40 ms; `/flaky` breaks off twice; `/count`
// tells how often a path was asked.
const asked = new Map();
const encode = (text) => new TextEncoder().encode(text);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function stream(text, init = {}) {
  return new Response(text, { ...init, headers: { "content-type": "text/event-stream; charset=utf-8", ...init.headers } });
}

async function* gaps() {
  for (let number = 0; number < 5; number++) {
    await pause(40);
    yield encode(`id: ${number}\ndata: ${number}\n\n`);
  }
}

async function* endless() {
  for (let number = 0; ; number++) {
    yield encode(`data: ${number}\n\n`);
    await pause(5);
  }
}

const routes = {
  "/lines": () => stream("\ufeff: first\r\nevent: greeting\rid: a1\ndata: one\r\ndata:two\r\n\r\n\r\ndata\n\n: alone\n\ndata: ü\n\ndata: cut"),
  "/gaps": () => stream(gaps()),
  "/endless": () => stream(endless()),
  "/echo": async (request) => stream(`event: ${request.method}\ndata: ${await request.text()}\ndata: ${request.headers.get("accept")}\n\n`),
  "/flaky": (request, times) => {
    const last = request.headers.get("last-event-id");
    if (times === 3) return new Response(null, { status: 204 });
    return stream(`retry: 20\nid: ${times}\ndata: ${times} after ${last}\n\ndata: lost`);
  },
  "/page": () => new Response("a page\n", { headers: { "content-type": "text/plain" } }),
  "/missing": () => stream("data: none\n\n", { status: 404 }),
  "/large": () => stream("data: " + "x".repeat(17 << 20)),
};

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const times = asked.get(pathname) ?? 0;
    if (pathname === "/count") return Response.json(Object.fromEntries(asked));
    asked.set(pathname, times + 1);
    return routes[pathname]?.(request, times) ?? new Response("no such path", { status: 404 });
  },
};
