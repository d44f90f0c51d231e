// What test.js asks: it tells what came.
export default {
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries([...request.headers].filter(([name]) => name.startsWith("x-") || name === "content-type"));
    if (pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, 2000));
    const told = JSON.stringify({ method: request.method, path: pathname + search, headers, body: await request.text() });
    return new Response(request.method === "HEAD" ? null : told, { headers: { "x-method": request.method } });
  },
};
