// parity: console
// All of a response.
import http from "k6/http";

export const options = { iterations: 1 };

const kinds = (value) =>
  value === null || typeof value !== "object" ? typeof value : Object.keys(value).sort().map((key) => `${key}:${typeof value[key]}`).join();

export default function () {
  const response = http.get(`${__ENV.TARGET}/cookies/set?crumb=1`, { redirects: 0 });
  for (const key of Object.keys(response)) {
    console.log(key, kinds(response[key]));
  }
  console.log(response.status_text, response.proto, response.remote_ip, response.error === "", response.error_code);
  console.log(JSON.stringify(response.cookies), response.headers["Set-Cookie"], JSON.stringify(response.ocsp));
}
