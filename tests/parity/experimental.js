// parity: console
// What files, rows and streams give, how their promises reject, and in which order things happen.
import csv from "k6/experimental/csv";
import fs, { SeekMode } from "k6/experimental/fs";
import { ReadableStream, WritableStream } from "k6/experimental/streams";

export const options = { iterations: 1 };

const path = import.meta.resolve("./lib/rows.csv");
const say = (name, value) => console.log(`${name}: ${JSON.stringify(value)}`);
const told = (name, promise) => promise.then((value) => say(name, value), (error) => say(name, error.name));

const file = await fs.open(path);
const rows = await csv.parse(await fs.open(path));
const parser = new csv.Parser(await fs.open(path), { delimiter: ",", fromLine: 1, toLine: 2 });
await told("missing", fs.open("/not/there"));
say("rows", rows);

export default async function () {
  say("stat", await file.stat());
  await told("first", file.seek(0, SeekMode.Start));
  await told("last", file.seek(0, SeekMode.End));
  await told("before the last", file.seek(-4, SeekMode.End));
  await told("beyond", file.seek(1000, SeekMode.Current));
  await told("read", file.read(new Uint8Array(100)));
  await told("end", file.read(new Uint8Array(100)));
  await told("opening late", fs.open(path));
  for (let row = 0; row < 4; row++) {
    const { done, value } = await parser.next();
    say("row", [done, value]);
  }

  const log = [];
  let left = 4;
  const source = new ReadableStream({ pull(controller) { left-- > 0 ? controller.enqueue(left) : controller.close(); } });
  const sink = new WritableStream({ write(chunk) { log.push(`write ${chunk}`); }, close() { log.push("close"); } });
  const [reader, writer] = [source.getReader(), sink.getWriter()];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    await writer.ready;
    writer.write(value);
  }
  await writer.close();
  say("from one to the other", log);

  const order = [];
  const sought = file.seek(0, SeekMode.Start).then(() => order.push("file"));
  Promise.resolve().then(() => order.push("first tick")).then(() => order.push("second tick"));
  await sought;
  say("order", order);
  // Nobody handles this.
  new ReadableStream({ start(controller) { controller.error(new Error("left alone")); } }).getReader().read();
}
