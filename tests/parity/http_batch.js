// Batches: by list and by name, asynchronous requests, callbacks that decide what a failure is.
import { check } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET;

export const options = {
  iterations: 1,
  thresholds: { checks: ["rate==1"], http_reqs: ["count==9"], http_req_failed: ["rate==0"], "http_reqs{expected_response:true}": ["count==8"] },
};

export default async function () {
  const list = http.batch([`${TARGET}/get`, ["POST", `${TARGET}/post`, "body"], { method: "GET", url: `${TARGET}/status/204` }]);
  check(list, { "list": (r) => r.length === 3 && r[0].status === 200 && r[1].status === 200 && r[2].status === 204 });
  const named = http.batch({ a: `${TARGET}/get`, b: { method: "GET", url: `${TARGET}/bytes/5` } });
  check(named, { "names": (r) => r.a.status === 200 && r.b.body.length >= 1 });
  const both = await Promise.all([http.asyncRequest("GET", `${TARGET}/get`), http.asyncRequest("POST", `${TARGET}/post`, "x")]);
  check(both, { "asynchronous": (r) => r[0].status === 200 && r[1].status === 200 });
  const accepted = http.expectedStatuses(404, { min: 500, max: 599 });
  check(http.get(`${TARGET}/status/503`, { responseCallback: accepted }), { "expected": (r) => r.status === 503 });
  check(http.get(`${TARGET}/status/400`, { responseCallback: null }), { "nobody's failure": (r) => r.status === 400 });
}
