// Requests of httpx against app.js.
import http from "k6/http";
import { Get, Httpx, Post, Request } from "https://jslib.k6.io/httpx/0.1.0/index.js";
import { is } from "../../../../../../tests/lib/assert.js";

export const options = {
  thresholds: {
    checks: ["rate==1"],
    "http_reqs{part:session}": ["count==13"],
    "http_reqs{part:session,once:yes}": ["count==1"],
    "http_reqs{part:batch}": ["count==3"],
  },
};

export default async function () {
  const session = new Httpx({ baseURL: __ENV.TARGET, headers: { "X-Session": "1" }, tags: { part: "session" }, timeout: 20000 });

  const got = session.get("/a?b=c", null, { headers: { "X-Once": "2" }, tags: { once: "yes" } }).json();
  is("a GET", got, { method: "GET", path: "/a?b=c", headers: { "x-once": "2", "x-session": "1" }, body: "" });
  is("a form", session.post("/form", { a: "1", b: "ü" }).json().body, "a=1&b=%C3%BC");
  is("a text", session.put("/text", "text").json().body, "text");
  const methods = ["patch", "delete", "options"].map((name) => session[name]("/m").json().method);
  is("methods", methods, ["PATCH", "DELETE", "OPTIONS"]);
  is("HEAD", session.head("/m").headers["X-Method"], "HEAD");
  is("a promise", (await session.asyncPost("/later", "x")).json(), { method: "POST", path: "/later", headers: { "x-session": "1" }, body: "x" });
  is("a whole address", session.get(`${__ENV.TARGET}/whole`).json().path, "/whole");

  session.addHeader("X-More", "3");
  is("a header more", session.get("/h").json().headers, { "x-more": "3", "x-session": "1" });
  session.clearHeader("X-Session");
  is("a header less", session.get("/h").json().headers, { "x-more": "3" });
  session.setBaseUrl(`${__ENV.TARGET}/api`);
  is("another base", session.get("/h").json().path, "/api/h");
  is("a named address", session.get(http.url`/items/${5}`).json().path, "/api/items/5");
  is("what is remembered", session.lastRequest.responseObject.json().path, "/api/items/5");

  session.clearTag("part");
  session.addTag("part", "batch");
  const answers = session.batch([new Get("/1"), new Post("/2", { body: "two" }), new Request("PUT", "/3", { body: "three", headers: { "X-Own": "4" } })], {
    headers: { "X-All": "5" },
  });
  is("a batch", answers.map((answer) => answer.json()), [
    { method: "GET", path: "/api/1", headers: { "x-all": "5", "x-more": "3" }, body: "" },
    { method: "POST", path: "/api/2", headers: { "x-all": "5", "x-more": "3" }, body: "two" },
    { method: "PUT", path: "/api/3", headers: { "x-all": "5", "x-more": "3", "x-own": "4" }, body: "three" },
  ]);

  const hasty = new Httpx({ baseURL: __ENV.TARGET, timeout: 100 });
  is("a timeout", hasty.get("/slow").error_code, 1050);
}
