// parity: console
// Credentials: basic, digest, wrong ones.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const at = (path, credentials) => __ENV.TARGET.replace("//", `//${credentials}@`) + path;
  const show = (response) => console.log(response.status, response.error_code, response.request.headers.Authorization ? "sent" : "not sent");
  show(http.get(at("/basic-auth/u/p", "u:p")));
  show(http.get(at("/basic-auth/u/p", "u:wrong")));
  show(http.get(at("/digest-auth/auth/u/p", "u:p"), { auth: "digest" }));
  show(http.get(at("/digest-auth/auth/u/p", "u:wrong"), { auth: "digest" }));
  show(http.get(at("/digest-auth/auth/u/p/SHA-256", "u:p"), { auth: "digest" }));
  show(http.get(`${__ENV.TARGET}/digest-auth/auth/u/p`, { auth: "digest" }));
  show(http.get(at("/basic-auth/u/p", "u:p"), { auth: "digest" }));
  show(http.get(at("/bearer", "u:p"), { headers: { Authorization: "Bearer abc" } }));
  show(http.get(at("/basic-auth/u%40/p%3A", "u%40:p%3A")));
}
