// Uploads: a form with a file, and raw bytes. The file is this script itself, so that the example needs no other.
//
//   onrush serve &
//   onrush run examples/upload.js
import { check } from "k6";
import http from "k6/http";

const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

// Read once, before the test begins.
const file = open("./upload.js", "b");

export const options = {
  vus: 2,
  iterations: 20,
  thresholds: { checks: ["rate==1"] },
};

export default function () {
  // An object with a file in it becomes multipart/form-data.
  const form = { title: "An example", file: http.file(file, "upload.js", "text/javascript") };
  check(http.post(`${TARGET}/post`, form), {
    "the field arrived": (r) => JSON.stringify(r.json().form.title).includes("An example"),
    "the file arrived": (r) => JSON.stringify(r.json().files.file).includes("onrush run examples/upload.js"),
  });

  // An ArrayBuffer is sent as it is.
  const response = http.post(`${TARGET}/upload`, file, { headers: { "Content-Type": "application/octet-stream" } });
  check(response, { "the bytes arrived": (r) => r.status === 200 });
}
