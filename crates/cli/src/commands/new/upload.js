import http, { FormData } from "onrush/http";
import { check } from "k6";

// Where requests go: `onrush run -e TARGET=https://example.com script.js`, or `onrush run --serve script.js`.
const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

// What is sent. A file of your own: `open("./picture.jpg", "b")`, once, before the test; all virtual users share its bytes.
const picture = new Uint8Array(100_000).buffer;

export const options = {
  vus: 10,
  duration: "30s",
  thresholds: { checks: ["rate>0.99"] },
};

export default function () {
  const form = new FormData();
  form.append("title", `picture ${__ITER}`);
  form.append("image", http.file(picture, "picture.jpg", "image/jpeg"));
  const response = http.post(`${TARGET}/post`, form);
  check(response, { "the form arrived": (r) => r.status === 200 });
}
