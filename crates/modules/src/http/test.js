// Requests, responses, cookies, batches and what is refused, against the server of tests/http.rs, whose address is in
// TARGET. Runs under k6 as well.
import { check } from "k6";
import http from "k6/http";
import { messageOf } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] }, batch: 3, batchPerHost: 2 };

const base = __ENV.TARGET;

const refusedInInit = [() => http.get(base), () => http.batch([base]), () => http.cookieJar()].map(messageOf);
const fields =
  "remote_ip,remote_port,url,status,status_text,proto,headers,cookies,body,timings,tls_version,tls_cipher_suite,ocsp," +
  "error,error_code,request";

const echo = (...args) => http.post(`${base}/echo`, ...args).json();
const header = (reply, name) => reply.headers.filter(([known]) => known.toLowerCase() === name).map(([, value]) => value);

function responses() {
  const res = http.get(`${base}/text`);
  check(res, {
    "init code sends nothing": () => refusedInInit.every((message) => message.includes("in the init context")),
    "status and text": (r) => r.status === 200 && r.status_text === "200 OK" && r.proto === "HTTP/1.1",
    "body is text": (r) => r.body === "hello" && r.json !== undefined,
    "where from": (r) => r.remote_ip === "127.0.0.1" && r.url === `${base}/text` && base.endsWith(String(r.remote_port)),
    "headers are canonical and joined": (r) => r.headers["X-Many"] === "a, b" && r.headers["X-Lower"] === "c",
    "no error": (r) => r.error === "" && r.error_code === 0,
    "timings add up": ({ timings: t }) => Math.abs(t.duration - t.sending - t.waiting - t.receiving) < 1e-6,
    "steps of timings": (r) =>
      Object.keys(r.timings).join() ===
      "duration,blocked,looking_up,connecting,tls_handshaking,sending,waiting,receiving",
    "fields in order": (r) => Object.keys(JSON.parse(JSON.stringify(r))).join() === fields,
    "the request is told": (r) =>
      r.request.method === "GET" && r.request.url === `${base}/text` && r.request.body === "" &&
      r.request.headers["User-Agent"].length === 1,
    "may be changed": (r) => ((r.status = 7), r.status === 7),
  });
  check(null, {
    "HEAD has an empty body": () => http.head(`${base}/text`).body === "",
    "204 has none": () => http.get(`${base}/status/204`).body === null,
    "binary": () => http.get(`${base}/text`, { responseType: "binary" }).body.byteLength === 5,
    "none": () => http.get(`${base}/text`, { responseType: "none" }).body === null,
    "bytes that are no UTF-8": () => http.get(`${base}/bytes`).body === "a\ufffd\ufffd€",
    "gzip is undone": () => http.get(`${base}/gzip`).body === "zipped",
    "error statuses": () => http.get(`${base}/status/404`).error_code === 1404,
    "redirects are followed": () => http.get(`${base}/redirect/2`).url === `${base}/text`,
    "redirects are limited": () => http.get(`${base}/redirect/3`, { redirects: 1 }).url === `${base}/redirect/2`,
    "redirects are refused": () => http.get(`${base}/redirect/1`, { redirects: 0 }).status === 302,
    "basic": () => header(http.get(`${base.replace("//", "//me:my%20word@")}/echo`).json(), "authorization")[0] ===
      "Basic bWU6bXkgd29yZA==",
    "digest": () => http.get(`${base.replace("//", "//me:word@")}/digest`, { auth: "digest" }).status === 200,
  });
}

function json() {
  const res = http.get(`${base}/json`);
  check(res, {
    "whole": (r) => r.json().list.length === 3 && r.json() !== r.json(),
    "paths": (r) => r.json("list.1.name") === "Bo" && r.json("list.#") === 3 && r.json("nothing.here") === undefined,
    "each": (r) => JSON.stringify(r.json("list.#.name")) === '["Al","Bo","Cy"]',
    "queries": (r) => r.json('list.#(name=="Cy").age') === 30 && r.json("list.#(age>15)#.name").join() === "Bo,Cy",
    "wildcards and escapes": (r) => r.json("li?t.0.n*") === "Al" && r.json("a\\.b") === true,
    "null is there": (r) => r.json("none") === null,
    "after the body changed": (r) => ((r.body = '{"q":1}'), r.json("q") === 1),
  });
  check(null, {
    "binary too": () => http.get(`${base}/json`, { responseType: "binary" }).json("list.#") === 3,
    "bad JSON": () => messageOf(() => http.get(`${base}/text`).json()).startsWith("cannot parse json due to an error at line 1"),
    "bad JSON by path": () => http.get(`${base}/text`).json("a") === undefined,
    "no body": () => messageOf(() => http.get(`${base}/text`, { responseType: "none" }).json()).includes("the body is null"),
  });
}

function bodies() {
  const form = { z: 1, a: "x y&é", list: [1, "b"], flag: true, half: 1.5 };
  const parts = { f: http.file("abc", 'n".txt', "text/x"), bin: http.file(new Uint8Array([255, 0]).buffer, "b"), k: "v" };
  const sent = http.post(`${base}/echo`, parts);
  check(null, {
    "text": () => echo("hé").body === "h\xc3\xa9",
    "bytes": () => echo(new Uint8Array([65, 66, 67]).subarray(1)).body === "BC" && echo(new ArrayBuffer(2)).body.length === 2,
    "nothing": () => header(echo(null), "content-length")[0] === "0",
    "form": () => echo(form).body === "a=x+y%26%C3%A9&flag=true&half=1.5&list=1&list=b&z=1",
    "form type": () => header(echo(form), "content-type")[0] === "application/x-www-form-urlencoded",
    "given type": () => header(echo(form, { headers: { "content-type": "text/x" } }), "content-type").join() === "text/x",
    "multipart type": () => /^multipart\/form-data; boundary=[0-9a-f]{60}$/.test(sent.request.headers["Content-Type"][0]),
    "multipart parts": () =>
      sent.json("body").includes('name="f"; filename="n\\".txt"\r\nContent-Type: text/x\r\n\r\nabc\r\n--') &&
      sent.json("body").includes('name="k"\r\n\r\nv\r\n--') && sent.json("body").includes("octet-stream\r\n\r\n\xff\0\r\n"),
    "file": () => Object.keys(parts.f).join() === "data,filename,content_type" && messageOf(() => http.file(5)) !== "",
    "compression": () => header(echo("x", { compression: "gzip, br" }), "content-encoding")[0] === "gzip, br",
    "other values": () => http.post(`${base}/echo`, 5).error.startsWith("unknown request body type int64"),
    "DELETE with a body": () => http.del(`${base}/echo`, "x").json("body") === "x",
    "any method": () => http.request("PURGE", `${base}/echo`).json("method") === "PURGE",
  });
}

function params() {
  const seen = http.get(`${base}/echo`, { headers: { "x-one": "1", host: "example.com", "User-Agent": "" } }).json();
  const cookies = { a: "1", b: { value: "2", replace: true } };
  http.cookieJar().set(base, "b", "jar");
  http.cookieJar().set(base, "c", "jar");
  check(null, {
    "headers": () => header(seen, "x-one")[0] === "1" && header(seen, "host")[0] === "example.com",
    "no user agent": () => header(seen, "user-agent").length === 0,
    "cookies": () =>
      header(http.get(`${base}/echo`, { cookies }).json(), "cookie")[0].split("; ").sort().join() === "a=1,b=2,c=jar",
    "timeouts": () => [50, "50ms"].every((timeout) => http.get(`${base}/slow`, { timeout }).error === "request timeout"),
    "timeout code": () => http.get(`${base}/slow`, { timeout: 50 }).error_code === 1050,
    "bad timeout": () => http.get(`${base}/text`, { timeout: "soon" }).error.includes('invalid duration "soon"'),
    "bad tag": () => http.get(`${base}/text`, { tags: { a: [1] } }).error.includes("metric tag 'a'"),
    "bad response type": () => http.get(`${base}/text`, { responseType: "x" }).error.includes("ResponseType"),
    "lost connection": () => http.get(`${base}/drop`).error === "EOF",
  });
  check(http.get("http://127.0.0.1:1/"), {
    "refused": (r) => r.status === 0 && r.body === null && r.error_code === 1212 && r.error === "dial: connection refused",
    "refused and thrown": () => messageOf(() => http.get("http://127.0.0.1:1/", { throw: true })).startsWith('Get "http://127'),
  });
  check(http.get("http://[::1"), {
    "bad URL": (r) => r.error_code === 1020 && r.request === null && r.body.length === 0 && r.url === "",
    "other scheme": () => http.get("ftp://host/").error === 'unsupported protocol scheme "ftp"',
    "no URL": () => http.get().error === "invalid URL: '#<nil>'",
  });
}

function expectations() {
  const set = http.expectedStatuses(200, { min: 400, max: 404 });
  check(null, {
    "a set shows nothing": () => JSON.stringify(set) === "{}",
    "is taken": () => http.get(`${base}/status/404`, { responseCallback: set }).error === "",
    "nothing is taken": () => http.get(`${base}/status/404`, { responseCallback: null }).error === "",
    "others are not": () => http.get(`${base}/text`, { responseCallback: 5 }).error === "unsupported responseCallback",
    "callback of all": () => messageOf(() => http.setResponseCallback({})).includes("expected http.expectedStatuses"),
    "needs arguments": () => [[], ["200"], [{ min: 1 }], [1.5]].every((args) => messageOf(() => http.expectedStatuses(...args)) !== ""),
  });
  http.setResponseCallback(set);
  http.setResponseCallback(http.expectedStatuses({ min: 200, max: 399 }));
}

function cookies() {
  const jar = http.cookieJar();
  jar.set(`${base}/x/y`, "deep", "1", { path: "/x", max_age: 100, http_only: true });
  const own = new http.CookieJar();
  own.set(base, "mine", "1");
  const res = http.get(`${base}/cookies`);
  check(res, {
    "of the answer": (r) => r.cookies.a[0].value === "1" && r.cookies.a[0].http_only && r.cookies.b[0].max_age === 100,
    "fields": (r) => Object.keys(r.cookies.a[0]).join() === "name,value,domain,path,http_only,secure,max_age,expires",
    "without expiry": (r) => r.cookies.a[0].expires === -6795364578871,
    "kept": () => header(http.get(`${base}/echo`).json(), "cookie")[0].includes("a=1"),
    "by path": () => jar.cookiesForURL(`${base}/x/y`).deep.join() === "1" && !jar.cookiesForURL(base).deep,
    "deleted": () => (jar.delete(`${base}/x/y`, "deep"), !jar.cookiesForURL(`${base}/x/y`).deep),
    "another jar": () => header(http.get(`${base}/echo`, { jar: own }).json(), "cookie")[0] === "mine=1",
    "bad date": () => messageOf(() => jar.set(base, "x", "y", { expires: "soon" })).includes('unable to parse "expires"'),
  });
}

function batches() {
  const list = http.batch([`${base}/text`, ["POST", `${base}/echo`, "q"], { url: `${base}/status/404` }, http.url`${base}/${"text"}`]);
  const named = http.batch({ one: `${base}/text`, two: { method: "post", url: `${base}/echo`, body: "z" } });
  const broken = http.batch([`${base}/text`, "http://[::1", `${base}/text`]);
  check(null, {
    "list": () => list.map((r) => r.status).join() === "200,200,404,200" && list[1].json("body") === "q",
    "named": () => named.one.body === "hello" && named.two.json("body") === "z" && Object.keys(named).length === 2,
    "more than fit": () => http.batch(Array(9).fill(`${base}/text`)).every((r) => r.body === "hello"),
    "a failure stays its own": () => http.batch(["http://127.0.0.1:1/", `${base}/text`]).map((r) => r.status).join() === "0,200",
    "throws": () => messageOf(() => http.batch([["GET", "http://127.0.0.1:1/", null, { throw: true }]])) !== "",
    "one that cannot be sent stops all": () => broken[0].status === 0 && broken[1].error_code === 1020 && broken[2] === null,
    "arguments": () => [[], ["x"], [5], [[], 1]].every((args) => messageOf(() => http.batch(...args)) !== ""),
  });
}

function urls() {
  const made = http.url`${base}/items/${5}`;
  check(made, {
    "fields": (u) => u.url === `${base}/items/5` && u.name === "${}/items/${}" && u.clean_url === u.url,
    "is an address": () => http.get(http.url`${base}/te${"xt"}`).body === "hello",
    "hides passwords": () => http.url`http://me:word@host/${1}`.clean_url === "http://****:****@host/1",
  });
}

/** What is the same may be read once: it has to make no difference. */
function repeated() {
  const url = `${base}/echo`;
  const params = { headers: { "X-Kept": "1" }, tags: { a: "b" } };
  const send = (body, given = params) => http.post(url, body, given).json();
  const same = "the same text";
  const [first, again, other] = [send(same), send(same), send("another")];
  const changing = { headers: { "X-Kept": "1", "X-More": "1" } };
  const seen = [() => {}, (h) => (h["X-Kept"] = "2"), (h) => delete h["X-More"], (h) => (h["X-More"] = 3)].map((change) => {
    change(changing.headers);
    const now = http.get(url, changing).json();
    return [header(now, "x-kept")[0], header(now, "x-more")[0]].join("-");
  });
  const places = Array.from({ length: 6 }, (_, n) => ({ headers: { "X-Kept": `${n}` } }));
  const inTurn = [...places, ...places].map((given) => header(http.get(url, given).json(), "x-kept")[0]);
  let count = 0;
  const moving = { get headers() { return { "X-Kept": String(++count) }; } };
  const counted = [1, 2, 3].map(() => header(http.get(url, moving).json(), "x-kept")[0]);
  const bytes = new Uint8Array([65, 66]);
  const buffered = [send(bytes.buffer).body, ((bytes[0] = 67), send(bytes.buffer).body)];
  const jar = http.cookieJar();
  jar.clear(base);
  const bare = header(send(same), "cookie");
  jar.set(base, "seen", "yes");
  const sweet = header(send(same), "cookie");
  jar.clear(base);
  const kept = http.post(url, same, params);
  http.setResponseCallback(http.expectedStatuses(404));
  http.setResponseCallback(http.expectedStatuses({ min: 200, max: 399 }));
  check(null, {
    "the same twice": () => first.body === same && again.body === same && header(again, "x-kept")[0] === "1",
    "another body": () => other.body === "another" && header(other, "x-kept")[0] === "1",
    "without params": () => header(send(same, null), "x-kept").length === 0,
    "another method": () => http.put(url, same, params).json().method === "PUT",
    "params that change": () => seen.join() === "1-1,2-1,2-,2-3",
    "params of several places": () => inTurn.join("") === "012345012345",
    "an accessor is asked each time": () => counted.join() === "1,2,3",
    "bytes that change": () => buffered[0] === "AB" && buffered[1] === "CB",
    "cookies that come and go": () => bare.length === 0 && sweet[0] === "seen=yes" && header(send(same), "cookie").length === 0,
    "the response tells of its own request": () => kept.request.body === same && kept.request.headers["X-Kept"][0] === "1",
  });
}

async function promises() {
  const [good, bad] = await Promise.all([
    http.asyncRequest("GET", `${base}/text`),
    http.asyncRequest("GET", "http://127.0.0.1:1/"),
  ]);
  let rejected = "";
  await http.asyncRequest("GET", "http://127.0.0.1:1/", null, { throw: true }).catch((error) => (rejected = String(error)));
  check(null, {
    "resolves": () => good.status === 200,
    "resolves when it failed": () => bad.error_code === 1212,
    "rejects when told to throw": () => rejected.includes("connection refused"),
  });
}

function pages() {
  const page = http.get(`${base}/text`);
  page.body = `<form id="one" method="POST" action="echo"><input name="a" value="1"><input name="b" value="2">
    <input type="submit" name="s" value="S"><button name="t" value="T">t</button></form>
    <form id="two" action="/echo?old=1"><input name="q" value="a b"></form>
    <a id="none">no</a><a id="text" href="text">to a text</a>`;
  const sent = (options) => page.submitForm(options).json();
  check(page, {
    "html": () => page.html().find("a").size() === 2 && page.html("#two input").val() === "a b",
    "html knows its URL": () => page.html("#text").get(0).href() === `${base}/text`,
    "a form is posted": () => {
      const reply = sent({ formSelector: "#one", fields: { b: "3", n: 4, l: [5, 6] } });
      return reply.method === "POST" && reply.body === "a=1&b=3&l=5&l=6&n=4&s=S" &&
        header(reply, "content-type")[0] === "application/x-www-form-urlencoded";
    },
    "a button sends it": () => sent({ formSelector: "#one", submitSelector: "[name=t]" }).body === "a=1&b=2&t=T",
    "a form is got": () => {
      const reply = page.submitForm({ formSelector: "#two", submitSelector: "#none", params: { headers: { "X-P": "1" } } });
      return reply.url === `${base}/echo?q=a+b` && reply.request.method === "GET" && reply.request.headers["X-P"][0] === "1";
    },
    "a link is followed": () => page.clickLink().body === "hello" && page.clickLink({ selector: "#text" }).status === 200,
    "what is not there": () =>
      messageOf(() => page.submitForm({ formSelector: "#no" })).includes("no form found for selector '#no'") &&
      messageOf(() => page.clickLink({ selector: "#none" })).includes("href") &&
      messageOf(() => page.clickLink({ selector: "#no" })).includes("no element found for selector '#no'"),
    "no body": () => messageOf(() => http.get(`${base}/status/204`).html()).includes("we can't transform it to HTML"),
  });
}

export default async function () {
  for (const part of [responses, json, pages, bodies, params, expectations, cookies, batches, urls, repeated]) part();
  await promises();
}
