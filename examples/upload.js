// Uploads: forms with a file in two ways, and raw bytes. The file is this script itself, so that the example needs no other.
// docs/guides/uploading.md has all the ways and what each costs.
//
//   onrush run --serve examples/upload.js
import { check } from "k6";
import http, { FormData } from "onrush/http";

const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

// Mapped once, before the test begins; all virtual users share its pages.
const file = open("./upload.js", "b");

export const options = {
  vus: 2,
  iterations: 20,
  thresholds: { checks: ["rate==1"] },
};

const arrived = {
  "the field arrived": (r) => JSON.stringify(r.json().form.title).includes("An example"),
  "the file arrived": (r) => JSON.stringify(r.json().files.file).includes("onrush run --serve"),
};

export default function () {
  // A form: fields in order, names may repeat. Nothing is copied together, the parts are sent from where they lie.
  const form = new FormData();
  form.append("title", `An example, number ${__ITER}`);
  form.append("file", http.file(file, "upload.js", "text/javascript"));
  check(http.post(`${TARGET}/post`, form), arrived);

  // The same as k6 does it: an object with a file in it becomes multipart/form-data.
  const object = { title: "An example", file: http.file(file, "upload.js", "text/javascript") };
  check(http.post(`${TARGET}/post`, object), arrived);

  // An ArrayBuffer is sent as it is.
  const response = http.post(`${TARGET}/upload`, file, { headers: { "Content-Type": "application/octet-stream" } });
  check(response, { "the bytes arrived": (r) => r.status === 200 });
}
