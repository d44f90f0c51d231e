// parity: args --batch 1 --batch-per-host 1
// parity: console
// Requests of a batch one after the other.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const responses = http.batch([1, 2, 3].map((n) => `${__ENV.TARGET}/get?n=${n}`));
  console.log(responses.map((r) => r.json("args.n")).join());
}
