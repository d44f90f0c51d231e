// parity: console
// Jars: attributes, clearing, other paths and hosts.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const url = `${__ENV.TARGET}/cookies`;
  const jar = http.cookieJar();
  const show = (at = url) => console.log(Object.entries(jar.cookiesForURL(at)).sort().join(";"), Object.entries(http.get(at).json()).sort().join(";"));
  jar.set(url, "plain", "1");
  jar.set(url, "path", "2", { path: "/other" });
  jar.set(url, "secure", "3", { secure: true });
  jar.set(url, "gone", "4", { max_age: -1 });
  jar.set(url, "later", "5", { expires: "Fri, 01 Jan 2100 00:00:00 GMT", http_only: true });
  jar.set(url, "past", "6", { expires: "Fri, 01 Jan 2000 00:00:00 GMT" });
  show();
  jar.delete(url, "plain");
  show();
  jar.clear(url);
  show();
  for (const work of [() => jar.set(url, "a", "b", { expires: "tomorrow" }), () => jar.set(url, "a b", "c"), () => jar.set(url, "n", 5)]) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  show();
}
