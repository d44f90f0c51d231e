// parity: console
// Requests in init code are refused.
import http from "k6/http";

if (__VU === 0) {
  for (const work of [() => http.get("http://127.0.0.1:1/"), () => http.batch([]), () => http.cookieJar(), () => http.asyncRequest("GET", "http://127.0.0.1:1/")]) {
    try {
      work();
      console.log("done");
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}

export default function () {}
