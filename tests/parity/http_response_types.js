// parity: console
// Bodies as text, bytes, or not at all.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const responseType of ["text", "binary", "none"]) {
    for (const path of ["/", "/status/204", "/status/304", "/encoding/utf8"]) {
      const { body } = http.get(`${__ENV.TARGET}${path}`, { responseType });
      console.log(responseType, path, body === null ? "null" : typeof body, body && (body.length || body.byteLength));
    }
    console.log(JSON.stringify(http.head(`${__ENV.TARGET}/`, { responseType }).body));
  }
  const broken = http.get(`${__ENV.TARGET}/bytes/64`).body;
  console.log(typeof broken, broken.length, broken.includes("\ufffd"));
}
