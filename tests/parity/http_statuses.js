// parity: console
// Statuses, their texts and their codes.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const status of [200, 201, 204, 226, 299, 301, 304, 399, 400, 404, 418, 429, 451, 499, 500, 503, 511, 599]) {
    const response = http.get(`${__ENV.TARGET}/status/${status}`, { redirects: 0 });
    console.log(status, response.status, response.status_text, response.error_code, response.error);
  }
}
