// Needs a server: `cargo xtask extensions` starts one, a cluster and a sentinel, and gives what to connect to.
import redis, { Client } from "k6/x/redis";
import { is, throws } from "../../../../tests/lib/assert.js";

export const options = { iterations: 1, thresholds: { checks: ["rate == 1"], iterations: ["count == 1"] } };

const target = JSON.parse(__ENV.REDIS);
const client = new redis.Client(target);

async function fails(name, promise, text) {
  let told = "nothing";
  await promise.catch((error) => (told = String(error)));
  is(name, told.includes(text) || told, true);
}

// In a cluster, what is in braces decides which server has a key.
const key = (name) => `{test}${name}`;

let inInit;
client.get("x").catch((error) => (inInit = String(error)));

export default async function () {
  is("names", redis.Client === Client, true);
  is("init code", inInit, "connecting to a redis server in the init context is not supported");
  await strings();
  await lists();
  await maps();
  await sets();
  await others();
  refusals();
}

async function strings() {
  await client.del(key("a"), key("b"), key("n"), key("l"), key("h"), key("s"), key("t"));
  is("set", await client.set(key("a"), "ü€😀"), "OK");
  is("get", await client.get(key("a")), "ü€😀");
  await fails("get nothing", client.get(key("none")), "redis: nil");
  for (const [value, stored] of [[12.5, "12.5"], [1e21, "1000000000000000000000"], [true, "1"], [false, "0"]]) {
    await client.set(key("b"), value);
    is(`set ${value}`, await client.get(key("b")), stored);
  }
  await fails("set an object", client.set(key("b"), {}), "unsupported type provided for argument at index 1");
  is("set for a time", await client.set(key("t"), "x", 10), "OK");
  is("ttl", await client.ttl(key("t")), 10);
  is("ttl never", await client.ttl(key("a")), -1e-9);
  is("ttl of nothing", await client.ttl(key("none")), -2e-9);
  is("persist", [await client.persist(key("t")), await client.persist(key("t"))], [true, false]);
  is("expire", [await client.expire(key("t"), 5), await client.expire(key("none"), 5)], [true, false]);
  is("getSet", await client.getSet(key("a"), "2"), "ü€😀");
  is("mget", await client.mget(key("a"), key("none")), ["2", null]);
  is("exists", await client.exists(key("a"), key("b"), key("none")), 2);
  is("getDel", await client.getDel(key("a")), "2");
  is("numbers", [
    await client.incr(key("n")),
    await client.incrBy(key("n"), 5),
    await client.decr(key("n")),
    await client.decrBy(key("n"), 2),
  ], [1, 6, 5, 3]);
  is("del", await client.del(key("n"), key("none")), 1);
}

async function lists() {
  is("push", [await client.lpush(key("l"), "b", "a", 3), await client.rpush(key("l"), "c")], [3, 4]);
  is("lrange", await client.lrange(key("l"), 0, -1), ["3", "a", "b", "c"]);
  is("pop", [await client.lpop(key("l")), await client.rpop(key("l"))], ["3", "c"]);
  is("lindex", await client.lindex(key("l"), 0), "a");
  is("lset", await client.lset(key("l"), 0, "z"), "OK");
  await fails("lset beyond", client.lset(key("l"), 9, "z"), "ERR index out of range");
  is("lrem", await client.lrem(key("l"), 1, "z"), 1);
  is("llen", await client.llen(key("l")), 1);
  await fails("a list as text", client.get(key("l")), "WRONGTYPE");
}

async function maps() {
  is("hset", [await client.hset(key("h"), "f", "v"), await client.hset(key("h"), "f", 2)], [1, 0]);
  is("hsetnx", [await client.hsetnx(key("h"), "f", "x"), await client.hsetnx(key("h"), "g", "1")], [false, true]);
  is("hget", await client.hget(key("h"), "f"), "2");
  is("hgetall", await client.hgetall(key("h")), { f: "2", g: "1" });
  is("hkeys", await client.hkeys(key("h")), ["f", "g"]);
  is("hvals", await client.hvals(key("h")), ["2", "1"]);
  is("hlen", await client.hlen(key("h")), 2);
  is("hincrby", await client.hincrby(key("h"), "f", 40), 42);
  is("hdel", await client.hdel(key("h"), "f", "none"), 1);
}

async function sets() {
  is("sadd", await client.sadd(key("s"), "a", "b", "a"), 2);
  is("sismember", [await client.sismember(key("s"), "a"), await client.sismember(key("s"), "z")], [true, false]);
  is("srem", await client.srem(key("s"), "a"), 1);
  is("smembers", await client.smembers(key("s")), ["b"]);
  is("srandmember", await client.srandmember(key("s")), "b");
  is("spop", await client.spop(key("s")), "b");
  await fails("spop nothing", client.spop(key("s")), "redis: nil");
}

async function others() {
  is("randomKey", typeof (await client.randomKey()), "string");
  is("sendCommand", await client.sendCommand("EVAL", "return {1,{2,'x'},false,'y'}", 0), [1, [2, "x"], null, "y"]);
  await fails("an unknown command", client.sendCommand("NOPE"), "ERR unknown command");
  // A command that blocks has a connection of its own, and its time.
  const began = Date.now();
  const blocked = client.sendCommand("BLPOP", key("none"), 1).catch((error) => String(error));
  await client.set(key("b"), 1);
  is("beside one that blocks", Date.now() - began < 900, true);
  is("one that blocks", await blocked, "redis: nil");
  const many = "x".repeat(3e6);
  await client.set(key("b"), many);
  is("three megabytes", (await client.get(key("b"))) === many, true);
  const all = await Promise.all(Array.from({ length: 50 }, (_, n) => client.set(`many${n}`, n)));
  is("fifty at once", all.length, 50);
  is("isConnected", [client.isConnected(), new Client(target).isConnected()], [true, false]);
  const nobody = new Client("redis://127.0.0.1:1");
  await fails("nobody there", nobody.get("x"), "dial tcp 127.0.0.1:1: connect: connection refused");
  if (target.socket && !target.masterName) {
    const short = new Client({ socket: { ...target.socket, readTimeout: 100 } });
    await fails("a command's time", short.sendCommand("BLPOP", "none", 5), "i/o timeout");
    const wrong = new Client({ ...target, username: "nobody", password: "x" });
    await fails("a wrong password", wrong.get("x"), "WRONGPASS");
  }
}

function refusals() {
  throws("no options", () => new Client(), "must specify one argument");
  throws("a number", () => new Client(5), "expected string or object");
  throws("another scheme", () => new Client("http://x"), "invalid URL scheme: http");
  throws("a misspelt option", () => new Client({ socket: { hots: "x" } }), "unknown field `hots`, expected one of `host`");
  throws("an empty cluster", () => new Client({ cluster: { nodes: [] } }), "cannot be empty");
  throws("a method of nobody", () => Client.prototype.get.call({}, "x"), "call it on one");
}
