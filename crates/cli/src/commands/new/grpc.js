import { check } from "k6";
import grpc, { Client } from "k6/net/grpc";

// Where calls go: `onrush run -e ADDRESS=host:443 script.js` (over TLS), or `onrush run --serve script.js`.
const address = __ENV.ADDRESS || (__ENV.TARGET || "http://127.0.0.1:8080").replace("http://", "");

const client = new Client();
// The server is asked for its methods (reflect, below). With a file instead: client.load(["proto"], "hello.proto");

export const options = {
  vus: 10,
  duration: "30s",
  thresholds: { checks: ["rate>0.99"], grpc_req_duration: ["p(95)<200"] },
};

export default function () {
  if (__ITER === 0) client.connect(address, { plaintext: !__ENV.ADDRESS, reflect: true });

  const response = client.invoke("onrush.test.v1.Target/Echo", { aString: "hello" });
  check(response, {
    "status is OK": (r) => r.status === grpc.StatusOK,
    "the echo is right": (r) => r.message.aString === "hello",
  });
}
