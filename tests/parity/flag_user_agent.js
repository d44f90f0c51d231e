// parity: args --user-agent parity/1
// parity: console
// The name of the client, by a flag, and by the script's header.
import http from "k6/http";

export const options = { iterations: 1, userAgent: "script/1" };

export default function () {
  console.log(http.get(`${__ENV.TARGET}/user-agent`).body);
  console.log(http.get(`${__ENV.TARGET}/user-agent`, { headers: { "user-agent": "own" } }).body);
  console.log(http.get(`${__ENV.TARGET}/user-agent`, { headers: { "User-Agent": "" } }).body);
}
