// URL and URLSearchParams, which k6 has from its library alone.
import { check } from "k6";
import { URL, URLSearchParams } from "https://jslib.k6.io/url/1.0.0/index.js";

export const options = { thresholds: { checks: ["rate==1"] } };

export default function () {
  const url = new URL("../c?x=1#f", "https://u:p@h.test:8443/a/b/d");
  check(url, {
    "an address is resolved": (url) => url.href === "https://u:p@h.test:8443/a/c?x=1#f",
    "its parts": (url) =>
      [url.protocol, url.host, url.hostname, url.port, url.pathname, url.search, url.hash, url.username, url.origin].join(" ") ===
      "https: h.test:8443 h.test 8443 /a/c ?x=1 #f u https://h.test:8443",
  });
  url.searchParams.append("q", "a b&c");
  url.searchParams.delete("x");
  check(url, {
    "the query changes the address": (url) => `${url}` === "https://u:p@h.test:8443/a/c?q=a+b%26c#f",
    "JSON": (url) => JSON.stringify({ url }) === '{"url":"https://u:p@h.test:8443/a/c?q=a+b%26c#f"}',
  });
  const { searchParams } = url;
  url.search = "??a=b&c=d";
  check(url, {
    "the query's object stays": (url) => url.searchParams === searchParams && searchParams.get("?a") === "b",
    "a new address": (url) => ((url.href = "http://h.test/?z=1"), searchParams.toString() === "z=1"),
    "the origin of a blob": () =>
      new URL("blob:https://h.test:443/x").origin === "https://h.test" && new URL("blob:ftp://h.test/x").origin === "null",
  });
  const params = new URLSearchParams([["b", "2"], ["a", "1"], ["b", "3"]]);
  params.sort();
  check(params, {
    "all of a name": (params) => params.getAll("b").join() === "2,3",
    "a function has no pairs": () => new URLSearchParams(function named() {}).toString() === "",
    "as text": (params) => params.toString() === "a=1&b=2&b=3",
    "it can be walked": (params) => [...params.keys()].join() === "a,b,b",
  });
  check(null, {
    "what is no address is refused": () => {
      try {
        return new URL("/relative") === undefined;
      } catch (error) {
        return error instanceof TypeError;
      }
    },
    "there is no global": () => typeof globalThis.URL === "undefined",
  });
}
