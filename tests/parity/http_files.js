// parity: console
// Files in forms.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const file = http.file("content", "name.txt", "text/x-own");
  console.log(JSON.stringify(file), Object.keys(file).join());
  const bytes = http.file(new Uint8Array([1, 2, 255]).buffer, "bytes.bin");
  console.log(bytes.content_type, bytes.filename, typeof bytes.data);
  const response = http.post(`${__ENV.TARGET}/post`, { one: file, two: bytes, field: "value", number: 5 });
  console.log(Object.entries(response.json("files")).sort().join(";"), Object.entries(response.json("form")).sort().join(";"));
  console.log(String(response.json("headers")["Content-Type"]).replace(/[0-9a-f]{60}/, "BOUNDARY"));
}
