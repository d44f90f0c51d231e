// parity: args --blacklist-ip 10.0.0.0/8 --block-hostnames *.example.test
// parity: console
// Addresses and names that are blocked.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const url of ["http://10.1.2.3/", "http://a.example.test/", `${__ENV.TARGET}/`]) {
    const response = http.get(url);
    console.log(response.status, response.error_code, response.error);
  }
}
