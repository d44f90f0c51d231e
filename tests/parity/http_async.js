// parity: console
// Requests as promises.
import http from "k6/http";

export const options = { iterations: 1 };

export default async function () {
  const base = __ENV.TARGET;
  const promise = http.asyncRequest("GET", `${base}/get?n=1`);
  console.log(promise instanceof Promise);
  console.log((await promise).status);
  const all = await Promise.all([http.asyncRequest("GET", `${base}/delay/50ms`), http.asyncRequest("POST", `${base}/post`, { a: "b" })]);
  console.log(all.map((r) => r.status).join());
  console.log((await http.asyncRequest("GET", "http://127.0.0.1:1/")).error_code);
  for (const work of [() => http.asyncRequest("GET", "http://127.0.0.1:1/", null, { throw: true }), () => http.asyncRequest("GET", "not a url"), () => http.asyncRequest("GET", base, 5)]) {
    try {
      console.log((await work()).error_code);
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
