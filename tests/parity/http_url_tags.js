// Addresses as they stand in tags: what Go would write.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const base = __ENV.TARGET;
  for (const path of ["/anything/a b", "/anything/é☃", "/anything/a%2Fb", "/anything/a'b(c)*!", "/anything/a|b^c`d{e}", "/anything/x#frag ment", "/anything/x?a=b|c", "/anything/%41%7e", "/anything/a\"b<c>", "?x=1", "", "/anything/a;b,c=d@e:f&g$h+i"]) {
    http.get(base + path);
  }
  http.get(base.replace("http", "HTTP") + "/anything/upper");
  http.get("http:///x");
  http.get("mailto:a@b");
  http.get("a b:c");
}
