// What `onrush types` declares, used as it is meant to be; each line below an @ts-expect-error is one that must be refused.
import type { Options } from "k6/options";
import k6http from "k6/http";
import { WebSocket } from "k6/websockets";
import sse from "k6/x/sse";
import { open } from "onrush/fs";
import http, { FormData } from "onrush/http";
import { random } from "onrush/payload";
import { AWSConfig, SignatureV4 } from "https://jslib.k6.io/aws/0.14.0/aws.js";
import { Get, Httpx } from "https://jslib.k6.io/httpx/0.1.0/index.js";
import { randomItem } from "https://jslib.k6.io/k6-utils/1.4.0/index.js";

export const options: Options = {
  network: "4g",
  http2: { connections: 2 },
  maxDecodedBody: "64m",
  scenarios: { a: { executor: "constant-vus", duration: "1s", network: { download: "10mbps" }, http2: false } },
  // @ts-expect-error
  netwrok: "4g",
};

const file = open("./picture.jpg");

export default function () {
  http.get("http://a/", { throw: true, http2: "prior-knowledge", onBody: (piece) => console.log(piece.byteLength) });
  http.get("http://a/", { onEvent: (event) => event.data !== "end" && event.at > 0 });
  // @ts-expect-error
  http.get("http://a/", { onBody: 5 });
  console.log(http.post("http://a/", random(10)).status, http.put("http://a/", new Uint8Array(5)).body);
  const form = new FormData();
  form.append("file", file);
  form.append("bytes", random(5));
  // @ts-expect-error
  form.append("nothing");
  k6http.post("http://a/", form, { tags: { a: "b" } });
  k6http.post("http://a/", { a: "b" });
  // @ts-expect-error
  k6http.post("http://a/", 5);
  const socket = new WebSocket("ws://a/");
  socket.onopen = () => setTimeout(() => socket.close(), 10);
  sse.open("http://a/", {}, (client) => client.on("event", (event) => console.log(event.data)));
  const session = new Httpx({ baseURL: "http://a" });
  console.log(session.get("/x").status, session.batch([new Get("/x")])[0].body);
  // @ts-expect-error
  new Httpx({ baseURL: 5 });
  const letter: string = randomItem(["a", "b"]);
  const config = new AWSConfig({ region: letter, accessKeyId: "a", secretAccessKey: "b" });
  const signer = new SignatureV4({ service: "s3", region: config.region, credentials: config, uriEscapePath: false });
  const signed = signer.sign({ method: "GET", endpoint: config.endpoint, path: "/" });
  k6http.get(signed.url, { headers: signed.headers });
  // @ts-expect-error
  new SignatureV4({ service: "s3" });
}
