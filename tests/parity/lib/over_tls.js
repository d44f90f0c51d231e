// What both versions of HTTP must do over TLS: the scripts beside this folder say which one.
import { check } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET_TLS;

/** Options for 34 requests, of which these many have an answer by this version. */
export function options(proto, other) {
  return {
    iterations: 2,
    insecureSkipTLSVerify: true,
    thresholds: {
      checks: ["rate==1"],
      http_reqs: ["count==34"],
      [`http_reqs{proto:${proto}}`]: ["count==30"],
      [`http_reqs{proto:${other}}`]: ["count==0"],
      "http_reqs{tls_version:tls1.3}": ["count==30"],
      "http_reqs{status:200}": ["count==22"],
      "http_reqs{error_code:1212}": ["count==2"],
      "http_reqs{error_code:1050}": ["count==2"],
      "http_reqs{error_code:1404}": ["count==2"],
      http_req_failed: ["rate<0.2"],
      http_req_waiting: ["max>0"],
      http_req_tls_handshaking: ["max>0"],
      http_req_connecting: ["max>0"],
      http_req_blocked: ["max>0"],
      data_sent: ["count>200000"],
      data_received: ["count>200000"],
    },
  };
}

export function requests(proto) {
  const first = http.get(`${TARGET}/delay/0.02`);
  check(first, {
    "version": (r) => r.proto === proto && r.status === 200 && r.tls_version === "tls1.3",
    "timings": (r) => r.timings.waiting > 15 && r.timings.duration > 15,
    "a new connection": (r) => __ITER > 0 || (r.timings.connecting > 0 && r.timings.tls_handshaking > 0 && r.timings.blocked > 0),
    "headers": (r) => r.headers["Content-Type"].includes("json") && r.json("url").endsWith("/delay/0.02"),
  });
  check(http.get(`${TARGET}/get`), {
    "a kept connection": (r) => r.proto === proto && r.timings.connecting === 0 && r.timings.tls_handshaking === 0,
  });
  const body = "x".repeat(100000);
  check(http.post(`${TARGET}/post`, body), { "a body goes out": (r) => r.json("data").length === 100000 });
  check(http.get(`${TARGET}/bytes/100000`, { responseType: "binary" }), { "a body comes in": (r) => r.body.byteLength === 100000 });
  check(http.head(`${TARGET}/get`), { "head": (r) => r.status === 200 && !r.body });
  check(http.get(`${TARGET}/gzip`), { "coding": (r) => r.json("gzipped") === true });
  check(http.get(`${TARGET}/redirect/2`), { "redirects": (r) => r.status === 200 && r.proto === proto && r.url.endsWith("/get") });
  check(http.get(`${TARGET}/cookies/set?k=v`), { "cookies": (r) => r.json("cookies.k") === "v" || r.json("k") === "v" });
  check(http.get(`${TARGET}/status/404`), { "missing": (r) => r.status === 404 && r.error_code === 1404 && r.status_text.endsWith("Not Found") });
  const batch = http.batch([`${TARGET}/get`, `${TARGET}/get`, `${TARGET}/get`]);
  check(batch, { "a batch": (all) => all.every((r) => r.status === 200 && r.proto === proto) });
  check(http.get("https://127.0.0.1:1/"), { "refused": (r) => r.status === 0 && r.error_code === 1212 && r.proto === "" });
  check(http.get(`${TARGET}/delay/5`, { timeout: "200ms" }), { "no time": (r) => r.status === 0 && r.error_code === 1050 });
}
