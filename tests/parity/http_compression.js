// parity: console
// Bodies that are sent and received compressed.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const compression of ["gzip", "deflate", "br", "zstd", "gzip, br"]) {
    const response = http.post(`${__ENV.TARGET}/post`, "text ".repeat(20), { compression });
    console.log(compression, response.json("headers.Content-Encoding"), response.request.headers["Content-Encoding"], response.request.body.length > 0);
  }
  for (const path of ["gzip", "deflate", "brotli", "zstd", "zstd-br"]) {
    const response = http.get(`${__ENV.TARGET}/${path}`);
    console.log(path, response.status, response.headers["Content-Encoding"], response.body.length > 20, response.headers["Content-Length"] !== undefined);
  }
  const clash = http.post(`${__ENV.TARGET}/post`, "text", { compression: "gzip", headers: { "Content-Encoding": "own" } });
  console.log(clash.json("headers.Content-Encoding"));
  console.log(JSON.stringify(http.get(`${__ENV.TARGET}/headers`, { headers: { "Accept-Encoding": "gzip" } }).json("headers.Accept-Encoding")));
}
