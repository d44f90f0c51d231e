// The extension's API: clients, requests and their bodies, checkstatus, and what is refused, against the server of
// tests/http.rs, whose address is in TARGET.
// parity: skip k6 has no such module
import { check } from "k6";
import { sha256 } from "k6/crypto";
import http from "k6/http";
import fasthttp, { Client, FileStream, Request, checkstatus } from "k6/x/fasthttp";
import { thrown } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

const base = __ENV.TARGET;

const client = new Client({
  dial_timeout: 5, proxy: "", max_conn_duration: 60, user_agent: "own", read_buffer_size: 0, write_buffer_size: 4096,
  read_timeout: 10, write_timeout: 10, max_conns_per_host: 1, tls_config: { insecure_skip_verify: true },
});
const plain = new Client();
const text = new Request(`${base}/text`);
const bytes = new Uint8Array(10000).fill(65);
const self = new FileStream(import.meta.resolve("./test.js"));
const refused = {
  init: thrown(() => client.get(text)),
  status: thrown(() => checkstatus(200, null)),
  config: thrown(() => new Client(5)),
  time: thrown(() => new Client({ dial_timeout: "5s" })),
  negative: thrown(() => new Client({ read_timeout: -1 })),
  agent: thrown(() => new Client({ user_agent: 5 })),
  tls: thrown(() => new Client({ tls_config: { certificate: "-----BEGIN CERTIFICATE-----" } })),
  flag: thrown(() => new Client({ tls_config: { insecure_skip_verify: "yes" } })),
  file: thrown(() => new Client({ tls_config: { certificate: "./not-there.pem", private_key: "./not-there.pem" } })),
  proxy: thrown(() => new Client({ proxy: "ftp://proxy" })),
  url: thrown(() => new Request(5)),
  options: thrown(() => new Request(base, "x")),
  type: thrown(() => new Request(base, { response_type: "json" })),
  hash: thrown(() => new Request(base, { hash: "md5" })),
};

const echo = (request, method = "post") => client[method](request).json();
const header = (reply, name) => reply.headers.filter(([known]) => known.toLowerCase() === name).map(([, value]) => value);

function requests() {
  const res = client.get(text);
  check(res, {
    "a response of k6/http": (r) => r.status === 200 && r.body === "hello" && r.proto === "HTTP/1.1" && r.error === "",
    "with timings": ({ timings: t }) => t.duration > 0 && Math.abs(t.duration - t.sending - t.waiting - t.receiving) < 1e-6,
    "with its request": (r) => r.request.method === "GET" && r.request.url === `${base}/text`,
    "once more": () => client.get(text).body === "hello",
    "the same request by another method": () => client.head(text).body === "" && client.get(text).body === "hello",
    "by another client": () => plain.get(text).body === "hello",
    "their class": () => client instanceof Client && text instanceof Request && self instanceof FileStream,
    "named and default": () => fasthttp.Client === Client && fasthttp.checkstatus === checkstatus,
  });
  for (const method of ["get", "post", "put", "patch", "delete", "options"]) {
    check(echo(new Request(`${base}/echo`), method), { [`client.${method}`]: (reply) => reply.method === method.toUpperCase() });
  }
  check(echo(new Request(`${base}/echo`, { host: "other.test", headers: { "x-a": "1", Host: "not-this" } })), {
    "headers": (reply) => header(reply, "x-a").join() === "1",
    "host": (reply) => header(reply, "host").join() === "other.test",
    "the user agent of the client": (reply) => header(reply, "user-agent").join() === "own",
  });
  check(null, {
    "the user agent of the run": () => header(plain.get(new Request(`${base}/echo`)).json(), "user-agent")[0] !== "own",
    "none": () => client.get(new Request(`${base}/text`, { response_type: "none" })).body === null,
    "gzip is undone": () => client.get(new Request(`${base}/gzip`)).body === "zipped",
    "redirects are not followed": () => client.get(new Request(`${base}/redirect/1`)).status === 302,
    "unless asked for": () => client.get(new Request(`${base}/redirect/2`, { redirects: 5 })).body === "hello",
    "a request that is closed after": () => {
      const closing = new Request(`${base}/echo`, { disable_keep_alive: true });
      return header(echo(closing), "connection").join() === "close" && client.get(text).timings.connecting > 0;
    },
    "a kept connection": () => client.get(text).timings.connecting === 0,
    "params of k6/http": () => client.get(new Request(`${base}/slow`, { timeout: 50 })).error_code === 1050,
    "a URL with a name": () => client.get(new Request(http.url`${base}/te${"xt"}`)).body === "hello",
  });
}

/** Bytes of a response: an ArrayBuffer that is read like Go's byte slices, too. */
function binary() {
  const body = client.get(new Request(`${base}/text`, { response_type: "binary" })).body;
  const last = new Uint8Array(body);
  last[4] = 33;
  check(body, {
    "an ArrayBuffer": (b) => b instanceof ArrayBuffer && b.byteLength === 5 && ArrayBuffer.isView(b) === false,
    "a length and indexes": (b) => b.length === 5 && b[0] === 104 && b[5] === undefined && b[-1] === undefined,
    "one memory": (b) => b[4] === 33,
    "array-like": (b) => String.fromCharCode(...Array.from(b)) === "hell!" && String.fromCharCode.apply(null, b) === "hell!",
    "nothing of its own is listed": (b) => Object.keys(b).length === 0,
    "a part of it": (b) => b.slice(1, 3).byteLength === 2 && b.slice(1, 3) instanceof ArrayBuffer,
    "sent": (b) => echo(new Request(`${base}/echo`, { body: b })).body === "hell!",
    "as a file": (b) => http.post(`${base}/echo`, { f: http.file(b, "f") }).json().body.includes("\r\n\r\nhell!\r\n"),
    "hashed": (b) => sha256(b, "hex") === sha256("hell!", "hex"),
    "an empty one": () => {
      const none = client.head(new Request(`${base}/text`, { response_type: "binary" })).body;
      return none.length === 0 && none[0] === undefined && none instanceof ArrayBuffer;
    },
    "of k6/http it is an ArrayBuffer alone": () => http.get(`${base}/text`, { responseType: "binary" }).body.length === undefined,
  });
}

function bodies() {
  const body = (value) => echo(new Request(`${base}/echo`, { body: value })).body;
  const stream = new Request(`${base}/echo`, { body: self });
  check(null, {
    "text": () => body("abc") === "abc",
    "long text": () => body("ab".repeat(5000)) === "ab".repeat(5000),
    "bytes": () => body(bytes.buffer).length === 10000 && body(bytes.subarray(0, 3)) === "AAA",
    "a form": () => body({ a: 1, b: "x y" }) === "a=1&b=x+y",
    "nothing": () => body(undefined) === "" && body(null) === "",
    "a file": () => body(self).length === self.size && self.size > 1000,
    "a file again": () => echo(stream).body === echo(stream, "put").body && echo(stream).body.startsWith("// The extension's"),
    "a part of a file": () => body(self.slice(3, 16)) === "The extension",
  });
  const type = (request, method) => header(echo(request, method), "content-type").join();
  const length = (request, method) => header(echo(request, method), "content-length").join();
  const empty = new Request(`${base}/echo`), full = new Request(`${base}/echo`, { body: "abc" });
  const form = new Request(`${base}/echo`, { body: { a: 1 } });
  check(null, {
    "bytes of no other type": () =>
      ["post", "put", "patch", "delete", "options"].every((method) =>
        type(full, method) === "application/octet-stream" && type(empty, method) === "application/octet-stream"),
    "types that are given": () =>
      type(new Request(`${base}/echo`, { body: "abc", headers: { "content-type": "text/x" } })) === "text/x" &&
      type(form) === "application/x-www-form-urlencoded",
    "no body is an empty one": () =>
      ["post", "put", "patch", "delete", "options"].every((method) => length(empty, method) === "0"),
    "none with GET": () => echo(full, "get").body === "" && type(full, "get") === "" && length(full, "get") === "",
    "nor of a form": () => echo(form, "get").body === "" && type(form, "get") === "",
    "nor of a file": () => echo(stream, "get").body === "" && client.head(stream).status === 200,
    "and it is there again": () => echo(full, "post").body === "abc",
  });
  const live = new Request(`${base}/echo`, { body: bytes });
  bytes[0] = 66;
  check(echo(live), { "bytes as they are when they are sent": (reply) => reply.body.startsWith("BA") });
}

function changes() {
  const request = new Request(`${base}/status/404`, { headers: { "X-A": "1" }, throw: true });
  check(request, {
    "as given": (r) => r.url === `${base}/status/404` && r.headers["X-A"] === "1" && r.throw === true && r.body === undefined,
    "sent": (r) => client.get(r).status === 404,
    "another URL": (r) => ((r.url = `${base}/echo`), echo(r).path === "/echo"),
    "another body": (r) => ((r.body = "new"), echo(r).body === "new"),
    "other headers": (r) => ((r.headers = { "X-B": "2" }), header(echo(r), "x-b").join() === "2" && header(echo(r), "x-a").length === 0),
    "headers cannot change in place": (r) => thrown(() => { r.headers["X-C"] = "3"; }).startsWith("TypeError"),
    "a mistake is told": (r) => thrown(() => { r.response_type = "json"; client.get(r); }).includes("expected text, binary or none"),
    "and can be mended": (r) => ((r.response_type = "text"), client.get(r).status === 200),
  });
}

function outcomes() {
  const refusedConnection = new Request("http://127.0.0.1:1/");
  check(client.get(refusedConnection), {
    "a failure is a response": (r) => r.status === 0 && r.error_code === 1212 && r.error !== "",
    "or thrown": () => thrown(() => client.get(new Request("http://127.0.0.1:1/", { throw: true }))) !== "",
    "a URL of no use": () => client.get(new Request("foo")).error_code === 1000,
    "checkstatus with tags": () => checkstatus(200, client.get(text), { of: "tags" }) === true,
    "checkstatus": () => checkstatus(200, client.get(text)) === true && checkstatus(404, client.get(new Request(`${base}/status/404`))),
    "cookies are kept": () => client.get(new Request(`${base}/cookies`)).cookies.a[0].value === "1" &&
      header(echo(text.constructor === Request ? new Request(`${base}/echo`) : null), "cookie").join() === "a=1; b=2",
    "and shared with k6/http": () => http.cookieJar().cookiesForURL(base).a.join() === "1",
    "and go along with a request sent before": () => client.get(text).request.headers.Cookie.join() === "a=1; b=2",
  });
}

export default function () {
  requests();
  binary();
  bodies();
  changes();
  outcomes();
  check(refused, {
    "no requests in init code": (r) => r.init.includes("in the init context") && r.status.includes("in the init context"),
    "no clients elsewhere": () => thrown(() => new Client()).includes("init context"),
    "no config but objects": (r) => r.config.includes("is of type int, expected an object"),
    "times are numbers": (r) => r.time.includes("dial_timeout is of type string, expected a number"),
    "of 0 or more": (r) => r.negative.includes("read_timeout is -1, expected 0 or more"),
    "user agents are text": (r) => r.agent.includes("user_agent is of type int, expected a string"),
    "certificates need keys": (r) => r.tls.includes("expected both"),
    "flags are booleans": (r) => r.flag.includes("insecure_skip_verify is of type string, expected a boolean"),
    "files have to be there": (r) => r.file.includes("neither PEM text nor a file"),
    "proxies speak HTTP": (r) => __VU > 0 || r.proxy.includes("proxies over"),
    "no URL but text": (r) => r.url !== "",
    "no options but objects": (r) => r.options.includes("are of type string, expected an object"),
    "known types of responses": (r) => r.type.includes('response_type is "json"'),
    "no digests": (r) => r.hash.includes("onrush/http"),
    "what is sent is a Request": () => thrown(() => client.get({ url: base })).includes("got object, expected a Request"),
    "and is given": () => thrown(() => client.get()).includes("got nothing, expected a Request"),
    "functions want their client": () => thrown(() => client.get.call({}, text)).includes("called on a Client"),
    "tags are text": () => thrown(() => checkstatus(200, null, { of: {} })).includes("metric tag 'of'"),
    "pages": () =>
      client.get(text).html().text() === "hello" && thrown(() => client.get(text).clickLink()).includes("no element found") &&
      thrown(() => client.get(text).submitForm()).includes("no form found"),
    "a status is a number": () => thrown(() => checkstatus("x", null)).includes("expected a status and a response"),
  });
}
