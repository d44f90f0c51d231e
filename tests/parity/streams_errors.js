// parity: console
// Streams that fail, are cancelled, are locked.
import { CountQueuingStrategy, ReadableStream } from "k6/experimental/streams";

export const options = { iterations: 1 };

export default async function () {
  const failing = new ReadableStream({ pull() { throw new Error("no more"); } });
  try {
    await failing.getReader().read();
  } catch (error) {
    console.log(error.message);
  }
  let cancelled = "";
  const stream = new ReadableStream({ cancel(reason) { cancelled = reason; } }, new CountQueuingStrategy({ highWaterMark: 2 }));
  console.log(stream.locked);
  const reader = stream.getReader();
  console.log(stream.locked);
  for (const work of [() => stream.getReader(), () => stream.cancel("x"), () => new ReadableStream(5), () => new ReadableStream({ type: "bytes" })]) {
    try {
      await work();
      console.log("done");
    } catch (error) {
      console.log(error.name);
    }
  }
  await reader.cancel("enough");
  console.log(cancelled, (await reader.read()).done);
  reader.releaseLock();
  console.log(stream.locked);
}
