import kvModule, { openKv } from "k6/x/kv";
import { is, messageOf } from "../../../../tests/lib/assert.js";

export const options = {
  vus: 4,
  iterations: 400,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 400"] },
};

// The options of the store; of a file that is not there yet, or that a run of this script left.
const kv = openKv(JSON.parse(__ENV.KV || '{"backend":"memory"}'));

function rejected(promise) {
  return promise.then(JSON.stringify, (error) => `${error.name}: ${error.message}`);
}

const wrong = [
  messageOf(() => openKv({ backend: "tape" })),
  messageOf(() => openKv({ serialization: "xml" })),
  messageOf(() => openKv({ ...JSON.parse(__ENV.KV || "{}"), serialization: "string" })),
];

export async function setup() {
  is("options", wrong, [
    'openKv(): backend is "tape", expected "memory" or "disk"',
    'openKv(): serialization is "xml", expected "json" or "string"',
    "openKv(): the store is open with another serialization, expected the same each time",
  ]);
  is("what the last run left", await kv.size(), Number(__ENV.LEFT || 0));
  await kv.clear();
  is("one function", kvModule.openKv === openKv, true);
  is("outside of init code", messageOf(openKv), "openKv() must be called in the init context");
  is("set", await kv.set("b", { list: [1, null, "ü"] }), { list: [1, null, "ü"] });
  is("get", await kv.get("b"), { list: [1, null, "ü"] });
  is("get nothing", await kv.get("none").catch((error) => `${error.name}: ${error.message}`), "KeyNotFoundError: key none not found");
  is("undefined", messageOf(() => kv.set("u", undefined)), 'set("u"): found undefined, expected a value that JSON can hold');
  await kv.set("a2", 2);
  await kv.set("a1", 1);
  is("list", await kv.list({ prefix: "a" }), [{ key: "a1", value: 1 }, { key: "a2", value: 2 }]);
  is("list some", (await kv.list({ limit: 2 })).map((entry) => entry.key), ["a1", "a2"]);
  is("size", await kv.size(), 3);
  is("delete", [await kv.delete("a1"), await kv.delete("a1"), await kv.exists("a1"), await kv.exists("a2")], [true, true, false, true]);
  is("clear", [await kv.clear(), await kv.size()], [true, 0]);
  await changes();
  await pages();
  is("a method of nobody", messageOf(() => kv.get.call({}, "x")), "this method belongs to a KV: call it on one");
}

async function changes() {
  is("increment", [await kv.incrementBy("n", 2), await kv.incrementBy("n", -0.5), await kv.get("n")], [2, 1.5, 1.5]);
  is("by no number", await rejected(kv.incrementBy("n", "2")), 'ValueNumberRequiredError: incrementBy("n"): the delta is 2, expected a number');
  is("getOrSet", [await kv.getOrSet("g", [1]), await kv.getOrSet("g", 2)], [{ value: [1], loaded: false }, { value: [1], loaded: true }]);
  is("no number", await rejected(kv.incrementBy("g", 1)), 'ValueParseError: incrementBy("g"): found [1], expected a number');
  is("swap", [await kv.swap("s", 1), await kv.swap("s", 2)], [{ previous: null, loaded: false }, { previous: 1, loaded: true }]);
  is("compareAndSwap", [await kv.compareAndSwap("s", 1, 3), await kv.compareAndSwap("s", 2, { a: 1, b: 2 })], [false, true]);
  is("in any order", [await kv.compareAndSwap("s", { b: 2, a: 1 }, null), await kv.get("s")], [true, null]);
  is("only if absent", [await kv.compareAndSwap("s", null, 4), await kv.compareAndSwap("t", undefined, 4)], [false, true]);
  is("setIfAbsent", [await kv.setIfAbsent("t", 5), await kv.setIfAbsent("u", 5), await kv.get("t")], [false, true, 4]);
  is("deleteIfExists", [await kv.deleteIfExists("u"), await kv.deleteIfExists("u")], [true, false]);
  is("compareAndDelete", [await kv.compareAndDelete("t", 5), await kv.compareAndDelete("t", 4), await kv.exists("t")], [false, true, false]);
  is("null is a value", await kv.compareAndDelete("s", null), true);
  await kv.clear();
}

async function pages() {
  for (const key of ["a", "p1", "p2", "p3", "p4", "p5", "q"]) await kv.set(key, key);
  const pages = [];
  let cursor = "";
  for (let done = false; !done; ) {
    const page = await kv.scan({ prefix: "p", limit: 2, cursor });
    pages.push(page.entries.map((entry) => entry.value));
    ({ cursor, done } = page);
  }
  is("pages", [pages, cursor], [[["p1", "p2"], ["p3", "p4"], ["p5"]], ""]);
  is("a whole page", (await kv.scan({ limit: 7 })).done, true);
  is("no cursor", await rejected(kv.scan({ cursor: "x" })), 'InvalidCursorError: scan(): no page has the cursor "x"');
  is("count", [await kv.count({ prefix: "p" }), await kv.count()], [5, 7]);
  const random = new Set();
  for (let n = 0; n < 200; n++) random.add(await kv.randomKey({ prefix: "p" }));
  is("random keys", [...random].sort(), ["p1", "p2", "p3", "p4", "p5"]);
  const popped = [];
  for (let n = 0; n < 6; n++) popped.push(await kv.popRandom({ prefix: "p" }));
  is("popped", [popped.map((entry) => entry && entry.value).sort(), await kv.size()], [[null, "p1", "p2", "p3", "p4", "p5"], 2]);
  is("no key", [await kv.randomKey({ prefix: "p" }), await kv.rebuildKeyList()], ["", true]);
  await kv.clear();
}

export default async function () {
  await kv.incrementBy("count", 1);
  await kv.set(`${__VU}-${__ITER}`, __VU);
  is("its own", await kv.get(`${__VU}-${__ITER}`), __VU);
}

export async function teardown() {
  is("all users wrote", [await kv.size(), await kv.get("count")], [401, 400]);
  is("close", [kv.close(), await rejected(kv.get("count"))], [undefined, "StoreClosedError: get(): the store is closed"]);
}
