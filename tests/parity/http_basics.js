// Requests against the target: methods, bodies, status, tags of the samples, failures.
import { check } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET;

export const options = {
  iterations: 1,
  thresholds: {
    checks: ["rate==1"],
    http_reqs: ["count==10"],
    http_req_failed: ["rate==0.2"],
    "http_reqs{status:200}": ["count==7"],
    "http_reqs{status:404}": ["count==1"],
    "http_reqs{status:302}": ["count==1"],
    "http_reqs{status:0}": ["count==1"],
    "http_reqs{error_code:1404}": ["count==1"],
    "http_reqs{error_code:1212}": ["count==1"],
    "http_reqs{method:POST}": ["count==1"],
    "http_reqs{method:HEAD}": ["count==1"],
    "http_reqs{name:named}": ["count==1"],
    "http_reqs{url:named}": ["count==1"],
    "http_reqs{mine:yes}": ["count==1"],
    "http_reqs{proto:HTTP/1.1}": ["count==9"],
    "http_reqs{expected_response:true}": ["count==8"],
    "http_reqs{scenario:default}": ["count==10"],
  },
};

export default function () {
  check(http.get(`${TARGET}/get?a=1`), { "get": (r) => r.status === 200 && r.json().url.includes("a=1") });
  check(http.post(`${TARGET}/post`, { field: "value" }), { "form": (r) => r.status === 200 && r.body.includes("value") });
  check(http.put(`${TARGET}/put`, "text"), { "put": (r) => r.json().data === "text" });
  check(http.del(`${TARGET}/delete`), { "delete": (r) => r.status === 200 });
  check(http.head(`${TARGET}/`), { "head": (r) => r.status === 200 && !r.body });
  check(http.get(`${TARGET}/status/404`), { "missing": (r) => r.status === 404 && r.error_code === 1404 });
  check(http.get(`${TARGET}/redirect/1`, { tags: { mine: "yes" }, redirects: 0 }), { "redirect": (r) => r.status === 302 });
  check(http.get(`${TARGET}/bytes/10`, { tags: { name: "named" }, responseType: "binary" }), { "bytes": (r) => r.body.byteLength === 10 });
  check(http.get("http://127.0.0.1:1/"), { "refused": (r) => r.status === 0 && r.error_code === 1212 });
  check(http.request("PATCH", `${TARGET}/patch`, "{}"), { "patch": (r) => r.status === 200 });
}
