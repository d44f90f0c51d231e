//! Extensions that need no other program, by their own test scripts; the others are in `cargo xtask extensions`.

use crate::lab::Lab;

#[test]
fn users_share_what_kv_keeps() {
    let script = include_str!("../../../extensions/src/kv/test.js");
    Lab::with(script).run(&[]).code(0);
}

#[test]
fn options_of_redis_are_checked_before_anything_is_sent() {
    let lab = Lab::with(
        "import redis from 'k6/x/redis';
        const client = new redis.Client({ socket: { hots: 'x' } });
        export default function () {}",
    );
    lab.run(&[]).code(107).says("unknown field `hots`, expected one of `host`, `port`").says("script.js:2:");
}
