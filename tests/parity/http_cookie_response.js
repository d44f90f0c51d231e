// parity: console
// Cookies of a response with their attributes.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const cookies = ["a=1; Path=/; HttpOnly", "b=2; Max-Age=100; Secure", "c=3; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "d=", "a=again; Path=/x", "e=x y", "bad name=1", "f=\"quoted\"", "g=1; SameSite=Strict; Domain=127.0.0.1"];
  for (const cookie of cookies) {
    const response = http.get(`${__ENV.TARGET}/response-headers?Set-Cookie=${encodeURIComponent(cookie)}`);
    console.log(cookie, JSON.stringify(response.cookies));
  }
  console.log(Object.entries(http.cookieJar().cookiesForURL(`${__ENV.TARGET}/x/y`)).sort().join(";"));
}
