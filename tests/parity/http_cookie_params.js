// parity: console
// Cookies of a request beside those of the jar.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const url = `${__ENV.TARGET}/headers`;
  http.cookieJar().set(url, "one", "jar");
  const sent = (params) => console.log(String(http.get(url, params).json("headers.Cookie")).split("; ").sort().join("; "));
  sent({});
  sent({ cookies: { one: "param" } });
  sent({ cookies: { one: { value: "param", replace: true } } });
  sent({ cookies: { two: "2", three: "a b", four: 'q"q' } });
  sent({ headers: { Cookie: "five=5" } });
  sent({ headers: { Cookie: "five=5" }, cookies: { six: "6" } });
  const response = http.get(url, { cookies: { seven: "7" } });
  console.log(JSON.stringify(response.request.cookies));
}
