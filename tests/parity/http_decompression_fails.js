// parity: console
// A body that is not what its header says.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const coding of ["gzip", "deflate", "br", "zstd", "unknown", "identity", "x-gzip"]) {
    const response = http.get(`${__ENV.TARGET}/response-headers?Content-Encoding=${coding}`);
    console.log(coding, response.status, response.error_code, response.error, response.body === null);
  }
}
