// Over TLS with HTTP/2, which the target offers: version, timings, codes of errors, counts, and fields that belong to
// connections.
import { check } from "k6";
import http from "k6/http";
import { options as common, requests } from "./lib/over_tls.js";

const base = common("HTTP/2.0", "HTTP/1.1");
export const options = Object.assign({}, base, {
  thresholds: Object.assign({}, base.thresholds, {
    http_reqs: ["count==50"],
    "http_reqs{proto:HTTP/2.0}": ["count==40"],
    "http_reqs{tls_version:tls1.3}": ["count==40"],
    "http_reqs{status:200}": ["count==32"],
    "http_reqs{error_code:1000}": ["count==6"],
    http_req_failed: ["rate<0.3"],
  }),
});

const sent = [["Connection", "close"], ["Keep-Alive", "x"], ["Transfer-Encoding", "chunked"], ["TE", "trailers"], ["Proxy-Connection", "y"]];
const refused = [["Connection", "upgrade"], ["Upgrade", "foo"], ["Transfer-Encoding", "gzip"]];

export default function () {
  requests("HTTP/2.0");
  for (const [name, value] of sent) {
    const r = http.get(`${__ENV.TARGET_TLS}/headers`, { headers: { [name]: value } });
    check(r, { "left out": () => r.status === 200 && (name === "TE" || r.json(`headers.${name}`) === undefined) });
  }
  for (const [name, value] of refused) {
    const r = http.get(`${__ENV.TARGET_TLS}/headers`, { headers: { [name]: value } });
    check(r, { "refused": () => r.error === `invalid ${name} request header: ["${value}"]` && r.error_code === 1000 });
  }
}
