// parity: console
// What gRPC refuses.
import grpc from "k6/net/grpc";

const client = new grpc.Client();
const path = import.meta.resolve("../../crates/server/src/grpc").replace("file://", "");
client.load([path], "target.proto");
if (__VU === 0) {
  for (const work of [() => client.load([path], "missing.proto"), () => client.load([], "target.proto"), () => client.connect("127.0.0.1:1"), () => client.invoke("a/b", {})]) {
    try {
      console.log(typeof work());
    } catch (error) {
      console.log(error.name);
    }
  }
}

export const options = { iterations: 1 };

export default function () {
  const tried = (work) => {
    try {
      console.log(work());
    } catch (error) {
      console.log(error.name, error.message);
    }
  };
  tried(() => client.invoke("onrush.test.v1.Target/Echo", {}));
  tried(() => client.connect("127.0.0.1:1", { plaintext: true, timeout: "1s" }));
  tried(() => client.connect(__ENV.TARGET.slice(7), { plaintext: true, unknown: 1 }));
  tried(() => client.connect(__ENV.TARGET.slice(7), { plaintext: "yes" }));
  tried(() => client.connect(__ENV.TARGET.slice(7), { plaintext: true }));
  tried(() => client.invoke("onrush.test.v1.Target/Missing", {}));
  tried(() => client.invoke("nothing", {}));
  tried(() => client.invoke("onrush.test.v1.Target/Echo", {}, { unknown: 1 }));
  tried(() => client.invoke("onrush.test.v1.Target/Echo"));
  tried(() => client.invoke("onrush.test.v1.Target/Echo", null).status);
  tried(() => client.invoke("onrush.test.v1.Target/Echo", {}, { metadata: { a: 5 } }));
  tried(() => client.load([path], "target.proto"));
}
