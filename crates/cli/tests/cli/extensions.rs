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

#[test]
fn a_database_in_a_file_is_written_and_read_by_all_users() {
    let lab = Lab::with(include_str!("../../../extensions/src/sql/sqlite/test.js"));
    lab.run(&["-e", "SQLITE=test.db"]).code(0);
}

#[test]
fn a_database_that_nobody_serves_is_told() {
    let lab = Lab::with(
        "import sql from 'k6/x/sql';
        import postgres from 'k6/x/sql/driver/postgres';
        import mysql from 'k6/x/sql/driver/mysql';
        const databases = [sql.open(postgres, 'postgres://u@127.0.0.1:1/x'), sql.open(mysql, 'u@tcp(127.0.0.1:1)/x')];
        export default function () {
          for (const database of databases) {
            try { database.query('SELECT 1'); } catch (error) { console.log(error.name, error.message); }
          }
        }",
    );
    let ran = lab.run(&[]);
    ran.code(0).says("GoError dial tcp 127.0.0.1:1: connect: connection refused");
}

#[test]
fn what_is_wrong_with_the_name_of_a_database_is_told_where_it_stands() {
    let lab = Lab::with(
        "import sql from 'k6/x/sql';
        import postgres from 'k6/x/sql/driver/postgres';
        const database = sql.open(postgres, 'postgres://u@h/x?sslmode=maybe');
        export default function () {}",
    );
    lab.run(&[]).code(107).says("wrong value for \"sslmode\": \"maybe\" is not supported").says("script.js:3:");
}
