// Cookies: set by the server, sent back, emptied before each iteration; jars of the script.
import { check } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET;

export const options = { iterations: 2, thresholds: { checks: ["rate==1"] } };

export default function () {
  check(http.get(`${TARGET}/cookies`), { "empty at first": (r) => !r.body.includes("crumb") });
  check(http.get(`${TARGET}/cookies/set?crumb=one`), { "set and sent": (r) => r.body.includes("crumb") && r.body.includes("one") });
  const jar = http.cookieJar();
  check(jar.cookiesForURL(`${TARGET}/cookies`), { "in the jar": (cookies) => cookies.crumb[0] === "one" });
  check(http.get(`${TARGET}/cookies`, { cookies: { extra: "two" } }), { "of the request": (r) => r.body.includes("two") });
  check(http.get(`${TARGET}/cookies`, { jar: new http.CookieJar() }), { "another jar": (r) => !r.body.includes("crumb") });
}
