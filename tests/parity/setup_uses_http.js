// Requests of setup and teardown have their groups.
import http from "k6/http";

export function setup() {
  http.get(`${__ENV.TARGET}/`);
}

export default function () {}

export function teardown() {
  http.get(`${__ENV.TARGET}/status/404`);
}
