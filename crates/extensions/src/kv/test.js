import { check } from "k6";
import kvModule, { openKv } from "k6/x/kv";

export const options = {
  vus: 4,
  iterations: 400,
  thresholds: { checks: ["rate == 1"], iterations: ["count == 400"] },
};

const kv = openKv({ backend: "memory" });

function is(name, found, wanted) {
  const [shown, expected] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (!check(found, { [name]: () => shown === expected })) console.error(`${name}: found ${shown}, expected ${expected}`);
}

function thrown(act) {
  try {
    act();
  } catch (error) {
    return error.message;
  }
  return "nothing";
}

const disk = thrown(() => openKv({ backend: "disk" }));

export async function setup() {
  is("disk", disk, 'openKv(): backend is "disk", expected "memory": values end with the run');
  is("one function", kvModule.openKv === openKv, true);
  is("outside of init code", thrown(openKv), "openKv() must be called in the init context");
  is("set", await kv.set("b", { list: [1, null, "ü"] }), { list: [1, null, "ü"] });
  is("get", await kv.get("b"), { list: [1, null, "ü"] });
  is("get nothing", await kv.get("none").catch((error) => `${error.name}: ${error.message}`), "KeyNotFoundError: key none not found");
  is("undefined", thrown(() => kv.set("u", undefined)), 'set("u"): found undefined, expected a value that JSON can hold');
  await kv.set("a2", 2);
  await kv.set("a1", 1);
  is("list", await kv.list({ prefix: "a" }), [{ key: "a1", value: 1 }, { key: "a2", value: 2 }]);
  is("list some", (await kv.list({ limit: 2 })).map((entry) => entry.key), ["a1", "a2"]);
  is("size", await kv.size(), 3);
  is("delete", [await kv.delete("a1"), await kv.delete("a1"), await kv.exists("a1"), await kv.exists("a2")], [true, true, false, true]);
  is("clear", [await kv.clear(), await kv.size()], [true, 0]);
  is("a method of nobody", thrown(() => kv.get.call({}, "x")), "this method belongs to a KV: call it on one");
}

export default async function () {
  await kv.set(`${__VU}-${__ITER}`, __VU);
  is("its own", await kv.get(`${__VU}-${__ITER}`), __VU);
}

export async function teardown() {
  is("all users wrote", await kv.size(), 400);
}
