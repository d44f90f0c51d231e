// parity: console
// An empty name of the client.
import http from "k6/http";

export const options = { iterations: 1, userAgent: "" };

export default function () {
  console.log(http.get(`${__ENV.TARGET}/headers`).body.includes("User-Agent"));
}
