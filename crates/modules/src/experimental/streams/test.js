// Streams: what is called when, what waits, how they end and fail. Runs under k6 as well.
import { check } from "k6";
import streams, { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader, WritableStream, WritableStreamDefaultWriter } from "k6/experimental/streams";

export const options = { thresholds: { checks: ["rate==1"] } };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What became of a promise or a call: its value, or the error's message (or the error itself) behind a "!".
async function outcome(action) {
  try {
    const value = await action();
    return value === undefined ? "undefined" : typeof value === "string" ? value : JSON.stringify(value);
  } catch (error) {
    return "!" + (error instanceof TypeError ? "TypeError" : error instanceof RangeError ? "RangeError" : error instanceof Error ? error.message : String(error));
  }
}

// What read() gave, without the order of its properties: k6 has none.
const plain = ({ value, done }) => (done ? "end" : value);

async function expect(name, expected, action) {
  const found = await outcome(action);
  check(found, { [name]: () => found === expected });
  if (found !== expected) console.error(`${name}: found ${found}, expected ${expected}`);
}

async function reading() {
  await expect("pulled as far as wanted", "start made pull0 tick | pull1 0 pull2 1 2 3 end closed", async () => {
    const log = [];
    let n = 0;
    const stream = new ReadableStream({
      start() { log.push("start"); },
      pull(controller) {
        log.push(`pull${n}`);
        controller.enqueue(n++);
        if (n === 3) { controller.enqueue(n); controller.close(); }
      },
    });
    log.push("made");
    Promise.resolve().then(() => log.push("tick"));
    const reader = stream.getReader();
    await wait(2);
    log.push("|");
    for (;;) {
      const { value, done } = await reader.read();
      log.push(done ? "end" : value);
      if (done) break;
    }
    await reader.closed;
    log.push("closed");
    return log.join(" ");
  });
  await expect("pulls wait for one another", "0 1 2 | 3", async () => {
    const log = [];
    let n = 0;
    const stream = new ReadableStream({ async pull(controller) { log.push(n); await wait(1); controller.enqueue(n++); } }, { highWaterMark: 3 });
    await wait(20);
    log.push("|");
    await stream.getReader().read();
    await wait(5);
    return log.join(" ");
  });
  await expect("pull waits for start", "!late", () => {
    let started = false;
    const stream = new ReadableStream({ async start() { await wait(2); started = true; }, pull(controller) { controller.error(new Error(started ? "late" : "early")); } });
    return stream.getReader().read();
  });
  await expect("reads wait in order", '[1,null,"end"]', async () => {
    let controller;
    const reader = new ReadableStream({ start(c) { controller = c; } }).getReader();
    const reads = [reader.read(), reader.read(), reader.read()];
    controller.enqueue(1);
    controller.enqueue(undefined);
    controller.close();
    return (await Promise.all(reads)).map(plain);
  });
  await expect("sizes by a strategy", "[5,3,-1,0,null]", () => {
    const sizes = [];
    let controller;
    const stream = new ReadableStream({ start(c) { controller = c; } }, { size: (chunk) => chunk, highWaterMark: 5 });
    const note = () => sizes.push(controller.desiredSize);
    note();
    controller.enqueue(2);
    note();
    controller.enqueue("4");
    note();
    stream.cancel();
    note();
    new ReadableStream({ start(c) { c.error(); sizes.push(c.desiredSize); } });
    return sizes;
  });
  await expect("the source is `this`", "[true,true,1]", async () => {
    const seen = [];
    const source = { start() { seen.push(this === source); }, pull(controller) { seen.push(this === source, arguments.length); controller.close(); } };
    await new ReadableStream(source).getReader().closed;
    return seen;
  });
}

async function ending() {
  await expect("cancel tells the source", '["why","undefined","end"]', async () => {
    const log = [];
    const reader = new ReadableStream({ start(c) { c.enqueue(1); }, cancel(reason) { log.push(reason); return "ignored"; } }).getReader();
    log.push(String(await reader.cancel("why")), plain(await reader.read()));
    await reader.closed;
    return log;
  });
  await expect("cancel rejects with the source's error", "!no", () => new ReadableStream({ cancel() { throw new Error("no"); } }).cancel());
  await expect("and closes all the same", "end", async () => {
    const stream = new ReadableStream({ cancel: () => Promise.reject(new Error("no")) });
    await outcome(() => stream.cancel());
    return plain(await stream.getReader().read());
  });
  await expect("cancel ends reads that wait", "end", async () => {
    const reader = new ReadableStream().getReader();
    const read = reader.read();
    reader.cancel();
    return plain(await read);
  });
  await expect("cancelling twice", "undefined", async () => {
    const stream = new ReadableStream();
    await stream.cancel();
    return stream.cancel();
  });
  for (const [name, source] of Object.entries({
    "pull throws": { pull() { throw "boom"; } },
    "pull rejects": { pull: async () => { throw "boom"; } },
    "start rejects": { start: async () => { throw "boom"; } },
    "the controller fails": { start(c) { c.enqueue(1); c.error("boom"); } },
  })) {
    await expect(`${name}: read`, "!boom", () => new ReadableStream(source).getReader().read());
    await expect(`${name}: closed`, "!boom", () => new ReadableStream(source).getReader().closed);
  }
  await expect("cancelling what failed", "!boom", () => new ReadableStream({ start(c) { c.error("boom"); } }).cancel());
  await expect("start throws", "!boom", () => new ReadableStream({ start() { throw "boom"; } }));
  await expect("closing drains first", '[1,"end"]', async () => {
    const reader = new ReadableStream({ start(c) { c.enqueue(1); c.close(); } }).getReader();
    return [plain(await reader.read()), plain(await reader.read())];
  });
  await expect("nothing more after close", '["!TypeError","!TypeError","undefined"]', () => {
    let controller;
    new ReadableStream({ start(c) { controller = c; c.enqueue(1); c.close(); } });
    return Promise.all([outcome(() => controller.enqueue(1)), outcome(() => controller.close()), outcome(() => controller.error(1))]);
  });
  await expect("a size that throws", "!sz", () => {
    let controller;
    new ReadableStream({ start(c) { controller = c; } }, { size() { throw new Error("sz"); } });
    return controller.enqueue(1);
  });
}

async function locking() {
  await expect("one reader at a time", '[false,true,"!TypeError","!TypeError","!TypeError",false]', async () => {
    const stream = new ReadableStream();
    const log = [stream.locked];
    const reader = stream.getReader();
    log.push(stream.locked, await outcome(() => stream.getReader()), await outcome(() => new ReadableStreamDefaultReader(stream)), await outcome(() => stream.cancel()));
    reader.releaseLock();
    log.push(stream.locked);
    return log;
  });
  await expect("a released reader", '["!TypeError","!TypeError","!TypeError","!TypeError","undefined"]', async () => {
    const reader = new ReadableStream().getReader();
    const read = reader.read();
    reader.releaseLock();
    const actions = [() => read, () => reader.read(), () => reader.closed, () => reader.cancel(), () => reader.releaseLock()];
    return Promise.all(actions.map(outcome));
  });
  await expect("the next reader goes on", "2", async () => {
    const stream = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); } });
    const first = stream.getReader();
    await first.read();
    first.releaseLock();
    return plain(await new ReadableStreamDefaultReader(stream).read());
  });
}

async function writing() {
  await expect("one chunk at a time", "start size2 size-1 w1 w2 done1 w3 close | closed", async () => {
    const log = [];
    const stream = new WritableStream({
      start() { log.push("start"); },
      async write(chunk) {
        log.push(`w${chunk}`);
        if (chunk === 2) await wait(1);
      },
      close() { log.push("close"); },
    }, new CountQueuingStrategy({ highWaterMark: 2 }));
    const writer = stream.getWriter();
    log.push(`size${writer.desiredSize}`);
    writer.write(1).then(() => log.push("done1"));
    writer.write(2);
    writer.write(3);
    log.push(`size${writer.desiredSize}`);
    await writer.close();
    log.push("|");
    await writer.closed;
    log.push("closed");
    return log.join(" ");
  });
  await expect("ready says when there is room", '["waiting","ready"]', async () => {
    let take;
    const writer = new WritableStream({ write: () => new Promise((resolve) => { take = resolve; }) }).getWriter();
    await writer.ready;
    writer.write(1);
    const ready = writer.ready.then(() => "ready");
    const early = await Promise.race([ready, wait(1).then(() => "waiting")]);
    take();
    return [early, await ready];
  });
  await expect("after the end", '["!TypeError","!TypeError","undefined","undefined",0]', async () => {
    const writer = new WritableStream().getWriter();
    await writer.close();
    return [await outcome(() => writer.write(1)), await outcome(() => writer.close()), await outcome(() => writer.abort()), await outcome(() => writer.ready), writer.desiredSize];
  });
  await expect("a write that fails fails the stream", '["!wr","!wr","!wr","!wr","!TypeError",null]', async () => {
    const writer = new WritableStream({ write() { throw new Error("wr"); } }).getWriter();
    const found = [];
    for (const action of [() => writer.write(1), () => writer.write(2), () => writer.closed, () => writer.ready, () => writer.close()]) found.push(await outcome(action));
    return [...found, writer.desiredSize];
  });
  await expect("abort drops what waits", '["!stop","!stop","undefined","!stop","!stop",["abort stop"]]', async () => {
    const log = [];
    const writer = new WritableStream({ write(chunk) { log.push(chunk); }, abort(reason) { log.push(`abort ${reason}`); } }).getWriter();
    const promises = [writer.write("a"), writer.write("b"), writer.abort("stop"), writer.closed, writer.ready];
    return [...(await Promise.all(promises.map((promise) => outcome(() => promise)))), log];
  });
  await expect("abort waits for the chunk at work", '["undefined","!stop","undefined",["begin","end","abort"]]', async () => {
    const log = [];
    const writer = new WritableStream({ async write() { log.push("begin"); await wait(2); log.push("end"); }, abort() { log.push("abort"); } }).getWriter();
    await writer.ready;
    await wait(0);
    const promises = [writer.write("a"), writer.write("b"), writer.abort("stop")];
    return [...(await Promise.all(promises.map((promise) => outcome(() => promise)))), log];
  });
  await expect("abort that fails", '["!ab","undefined","!TypeError"]', async () => {
    const stream = new WritableStream({ abort() { throw new Error("ab"); } });
    return [await outcome(() => stream.abort(1)), await outcome(() => stream.abort(2)), await outcome(() => stream.close())];
  });
  await expect("close that fails", '["!cl","!cl"]', async () => {
    const writer = new WritableStream({ close() { throw new Error("cl"); } }).getWriter();
    return [await outcome(() => writer.close()), await outcome(() => writer.closed)];
  });
  await expect("the controller gives up", '["!ce","!ce"]', async () => {
    let controller;
    const writer = new WritableStream({ start(c) { controller = c; } }).getWriter();
    await wait(1);
    controller.error(new Error("ce"));
    return [await outcome(() => writer.write(1)), await outcome(() => writer.closed)];
  });
  await expect("start throws", "!st", () => new WritableStream({ start() { throw "st"; } }));
  await expect("start rejects", "!st", () => new WritableStream({ start: async () => { throw "st"; } }).getWriter().write(1));
  await expect("a writer locks", '[true,"!TypeError","!TypeError","!TypeError",false]', async () => {
    const stream = new WritableStream();
    const writer = stream.getWriter();
    const found = [stream.locked, await outcome(() => stream.close()), await outcome(() => stream.abort()), await outcome(() => new WritableStreamDefaultWriter(stream))];
    writer.releaseLock();
    return [...found, stream.locked];
  });
  await expect("a released writer", '["!TypeError","!TypeError","!TypeError","!TypeError","!TypeError","!TypeError"]', async () => {
    const writer = new WritableStream().getWriter();
    writer.releaseLock();
    return Promise.all([() => writer.write(1), () => writer.close(), () => writer.abort(), () => writer.closed, () => writer.ready, () => writer.desiredSize].map(outcome));
  });
  await expect("a mark of 0 never is ready by itself", '[0,"waiting",-1,0]', async () => {
    const writer = new WritableStream({}, { highWaterMark: 0 }).getWriter();
    const before = writer.desiredSize;
    const state = await Promise.race([writer.ready.then(() => "ready"), wait(1).then(() => "waiting")]);
    const write = writer.write(1);
    const during = writer.desiredSize;
    await write;
    return [before, state, during, writer.desiredSize];
  });
}

async function refusing() {
  const cases = {
    "!TypeError": [
      () => new ReadableStream(null), () => new ReadableStream(1), () => new ReadableStream({ start: 1 }), () => new ReadableStream({ pull: "x" }),
      () => new ReadableStream({ cancel: {} }), () => new ReadableStream({ type: "x" }), () => new ReadableStream({}, 1), () => new ReadableStream({}, { size: 1 }),
      () => new ReadableStreamDefaultReader(), () => new ReadableStreamDefaultReader({}), () => new ReadableStream().getReader(1), () => new ReadableStream().getReader({ mode: "x" }),
      () => new WritableStream(null), () => new WritableStream("x"), () => new WritableStream({ write: 1 }), () => new WritableStream({ close: 1 }), () => new WritableStream({}, { size: 1 }),
      () => WritableStream(), () => new WritableStreamDefaultWriter({}), () => new CountQueuingStrategy(), () => new CountQueuingStrategy(null), () => new CountQueuingStrategy({}),
    ],
    "!RangeError": [
      () => new ReadableStream({}, { highWaterMark: -1 }), () => new ReadableStream({}, { highWaterMark: NaN }), () => new ReadableStream({}, { highWaterMark: "x" }),
      () => new WritableStream({ type: "bytes" }), () => new WritableStream({}, { highWaterMark: -1 }),
      () => new ReadableStream({ start(c) { c.enqueue(1); } }, { size: () => -1 }), () => new ReadableStream({ start(c) { c.enqueue(1); } }, { size: () => NaN }),
      () => new ReadableStream({ start(c) { c.enqueue(1); } }, { size: () => Infinity }), () => new WritableStream({}, { size: () => -1 }).getWriter().write(1),
    ],
  };
  for (const [expected, actions] of Object.entries(cases)) {
    for (const [index, action] of actions.entries()) await expect(`${expected} ${index}`, expected, action);
  }
  for (const action of [() => new ReadableStream({ type: "bytes" }), () => new ReadableStream().getReader({ mode: "byob" }), () => new ReadableStream().tee()]) {
    const found = await outcome(action);
    check(found, { "what is not supported says so": (text) => text.startsWith("!") && text.includes("not supported") });
  }
}

export default async function () {
  check(streams, { "what there is": (s) => Object.keys(s).sort().join() === "CountQueuingStrategy,ReadableStream,ReadableStreamDefaultReader,WritableStream,WritableStreamDefaultWriter" });
  check(new CountQueuingStrategy({ highWaterMark: 3 }), { "a strategy that counts": (s) => s.highWaterMark === 3 && s.size("chunk") === 1 });
  check(new streams.ReadableStream(), { "their class": (s) => s instanceof streams.ReadableStream });
  await reading();
  await ending();
  await locking();
  await writing();
  await refusing();
}
