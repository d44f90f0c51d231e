// parity: console
// Cookies stay over iterations.
import http from "k6/http";

export const options = { iterations: 2, noCookiesReset: true };

export default function () {
  console.log(JSON.stringify(http.get(`${__ENV.TARGET}/cookies`).json("cookies")));
  http.get(`${__ENV.TARGET}/cookies/set?crumb=${__ITER}`, { redirects: 0 });
}
