// parity: console
// Names that the test maps itself, with and without a port.
import http from "k6/http";

const port = __ENV.TARGET.split(":")[2];
const address = __ENV.TARGET.slice(7);
export const options = {
  iterations: 1,
  hosts: { "mapped.test": "127.0.0.1", "port.test:80": address, "*.wild.test": "127.0.0.1", "own.wild.test": "127.0.0.1" },
};

export default function () {
  for (const url of [`http://mapped.test:${port}/headers`, "http://port.test/headers", `http://a.b.wild.test:${port}/headers`]) {
    const response = http.get(url);
    console.log(response.status, response.error, response.remote_ip, response.url.replace(port, "PORT"));
    console.log(JSON.stringify(response.json("headers.Host")).replace(port, "PORT"));
  }
}
