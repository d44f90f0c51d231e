//! The commands that have a method of their own.

use super::reply::Shape;

/// What a method takes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A name: anything, as text.
    Text,
    /// A value to store.
    Stored,
    /// A whole number.
    Whole,
    /// All that follows, as names.
    Texts,
    /// All that follows, as values to store.
    AllStored,
    /// Seconds after which the key is forgotten; 0 or nothing for never.
    Expiry,
}

/// A method.
pub struct Command {
    /// In scripts.
    pub method: &'static str,
    /// For the server.
    pub name: &'static str,
    /// What it takes.
    pub args: &'static [Arg],
    /// What it gives.
    pub shape: Shape,
}

const fn command(method: &'static str, name: &'static str, args: &'static [Arg], shape: Shape) -> Command {
    Command { method, name, args, shape }
}

use Arg::{AllStored, Expiry, Stored, Text, Texts, Whole};
use Shape::{Map, Plain, Seconds, Truth};

/// All of them.
#[rustfmt::skip]
pub const COMMANDS: [Command; 39] = [
    command("set", "SET", &[Text, Stored, Expiry], Plain),
    command("get", "GET", &[Text], Plain),
    command("getSet", "GETSET", &[Text, Stored], Plain),
    command("del", "DEL", &[Texts], Plain),
    command("getDel", "GETDEL", &[Text], Plain),
    command("exists", "EXISTS", &[Texts], Plain),
    command("incr", "INCR", &[Text], Plain),
    command("incrBy", "INCRBY", &[Text, Whole], Plain),
    command("decr", "DECR", &[Text], Plain),
    command("decrBy", "DECRBY", &[Text, Whole], Plain),
    command("randomKey", "RANDOMKEY", &[], Plain),
    command("mget", "MGET", &[Texts], Plain),
    command("expire", "EXPIRE", &[Text, Whole], Truth),
    command("ttl", "TTL", &[Text], Seconds),
    command("persist", "PERSIST", &[Text], Truth),
    command("lpush", "LPUSH", &[Text, AllStored], Plain),
    command("rpush", "RPUSH", &[Text, AllStored], Plain),
    command("lpop", "LPOP", &[Text], Plain),
    command("rpop", "RPOP", &[Text], Plain),
    command("lrange", "LRANGE", &[Text, Whole, Whole], Plain),
    command("lindex", "LINDEX", &[Text, Whole], Plain),
    command("lset", "LSET", &[Text, Whole, Text], Plain),
    command("lrem", "LREM", &[Text, Whole, Text], Plain),
    command("llen", "LLEN", &[Text], Plain),
    command("hset", "HSET", &[Text, Text, Stored], Plain),
    command("hsetnx", "HSETNX", &[Text, Text, Text], Truth),
    command("hget", "HGET", &[Text, Text], Plain),
    command("hdel", "HDEL", &[Text, Texts], Plain),
    command("hgetall", "HGETALL", &[Text], Map),
    command("hkeys", "HKEYS", &[Text], Plain),
    command("hvals", "HVALS", &[Text], Plain),
    command("hlen", "HLEN", &[Text], Plain),
    command("hincrby", "HINCRBY", &[Text, Text, Whole], Plain),
    command("sadd", "SADD", &[Text, AllStored], Plain),
    command("srem", "SREM", &[Text, AllStored], Plain),
    command("sismember", "SISMEMBER", &[Text, Stored], Truth),
    command("smembers", "SMEMBERS", &[Text], Plain),
    command("srandmember", "SRANDMEMBER", &[Text], Plain),
    command("spop", "SPOP", &[Text], Plain),
];
