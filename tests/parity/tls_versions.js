// parity: console
// Versions of TLS that the test allows.
import http from "k6/http";

export const options = { iterations: 1, insecureSkipTLSVerify: true, tlsVersion: { min: "tls1.2", max: "tls1.2" } };

export default function () {
  const response = http.get(`${__ENV.TARGET_TLS}/`);
  console.log(response.status, response.tls_version, response.proto, response.error, JSON.stringify(response.ocsp));
}
