// parity: console
// Streams of gRPC.
import { Client, Stream } from "k6/net/grpc";

const client = new Client();
const path = import.meta.resolve("../../crates/server/src/grpc").replace("file://", "");
client.load([path], "target.proto");

export const options = { iterations: 1 };

export default async function () {
  client.connect(__ENV.TARGET.slice(7), { plaintext: true });
  const run = (method, write) =>
    new Promise((resolve) => {
      const stream = new Stream(client, `onrush.test.v1.Target/${method}`, { tags: { own: "1" } });
      stream.on("data", (data) => console.log(method, "data", data.number, data.aString));
      stream.on("error", (error) => console.log(method, "error", error.code, error.message));
      stream.on("end", () => {
        console.log(method, "end");
        resolve();
      });
      write(stream);
    });
  await run("Count", (stream) => {
    stream.write({ count: 2, intervalMs: 1 });
  });
  await run("Chat", (stream) => {
    stream.write({ aString: "one" });
    stream.write({ aString: "two" });
    stream.end();
  });
  await run("Chat", (stream) => {
    stream.on("data", (data) => {
      console.log("first", data.aString);
      stream.on("data", (again) => console.log("late", again.aString));
      if (data.aString === "one") stream.write({ aString: "two" });
      else stream.end();
    });
    stream.write({ aString: "one" });
  });
  client.close();
}
