// parity: console
// Calls of gRPC.
import grpc from "k6/net/grpc";

const client = new grpc.Client();
const path = import.meta.resolve("../../crates/server/src/grpc").replace("file://", "");
const methods = client.load([path], "target.proto");

export const options = { iterations: 1 };

export default function () {
  console.log(methods.length, JSON.stringify(methods.find((m) => m.fullMethod.endsWith("Count"))));
  console.log(client.connect(__ENV.TARGET.slice(7), { plaintext: true }));
  const service = "onrush.test.v1.Target";
  const response = client.invoke(`${service}/Echo`, { aString: "é", anInt64: "9007199254740993", numbers: [1, 2], counts: { a: 1 }, color: "RED", inner: { aBool: true } });
  console.log(response.status, JSON.stringify(response.message), JSON.stringify(response.error), Object.keys(response).sort().join());
  const failed = client.invoke(`${service}/Fail`, { code: 5, message: "not here" });
  console.log(failed.status, failed.status === grpc.StatusNotFound, JSON.stringify(failed.error), JSON.stringify(failed.message));
  const late = client.invoke(`${service}/Delay`, { delayMs: 2000 }, { timeout: "100ms" });
  console.log(late.status, JSON.stringify(late.error));
  const meta = client.invoke(`${service}/Metadata`, {}, { metadata: { "x-own": "1" }, tags: { own: "1" } });
  console.log(meta.status, JSON.stringify(meta.headers["x-own"]), JSON.stringify(meta.trailers["x-own"]));
  client.close();
}
