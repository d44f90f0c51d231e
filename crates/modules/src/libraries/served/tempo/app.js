// What test.js asks: it tells the headers that came.
export default {
  fetch(request) {
    return Response.json({ method: request.method, headers: Object.fromEntries(request.headers) });
  },
};
