// parity: console
// Addresses in other forms: credentials, fragments, escapes, letters.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const base = __ENV.TARGET;
  for (const path of ["/get?a=b c", "/get#frag", "/get?x=%41%2f", "/get?é=☃", "/anything/a%2Fb", "/anything/../get", "/get?", "/get?a&b=&a=2", "/anything//x"]) {
    const response = http.get(base + path);
    console.log(path, response.status, response.url.replace(base, ""), String(response.json("url")).replace(base, ""), JSON.stringify(response.json("args")));
  }
  const response = http.get(base.replace("//", "//user:pass@") + "/basic-auth/user/pass");
  console.log(response.status, response.url.replace(base.slice(7), "HOST"), response.request.url.replace(base.slice(7), "HOST"));
  console.log(http.get(base.replace("http", "HTTP") + "/").status);
}
