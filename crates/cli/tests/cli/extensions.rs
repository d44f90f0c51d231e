//! Extensions that need no other program, by their own test scripts; the others are in `cargo xtask extensions`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::lab::Lab;

/// A folder that holds the test script of an extension, which finds what it imports where the repository has it.
fn lab_of(extension: &str) -> Lab {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let script = crates.join("extensions/src").join(extension).join("test.js");
    let text = std::fs::read_to_string(&script).unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    let root = crates.join("..").canonicalize().expect("the root of the repository");
    let up = "../".repeat("crates/extensions/src".split('/').chain(extension.split('/')).count());
    Lab::with(&text.replace(&up, &format!("{}/", root.display())))
}

#[test]
fn users_share_what_kv_keeps() {
    lab_of("kv").run(&[]).code(0);
}

#[test]
fn a_file_of_kv_outlives_the_run() {
    let lab = lab_of("kv");
    let disk = r#"KV={"backend":"disk","path":"values.redb"}"#;
    lab.run(&["-e", disk]).code(0);
    lab.run(&["-e", disk, "-e", "LEFT=401"]).code(0);
    lab.file("values.redb", "something else");
    lab.run(&["-e", disk]).code(107).says("cannot open the store values.redb: ").says("of another format");
}

#[test]
fn texts_of_kv_are_kept_as_they_are() {
    let lab = Lab::with(
        "import { openKv } from 'k6/x/kv';
        const kv = openKv({ serialization: 'string' });
        export default async function () {
            await kv.set('a', 'x\"y');
            await kv.incrementBy('n', 2);
            console.log(JSON.stringify([await kv.get('a'), await kv.set('b', 5), await kv.get('n')]));
        }",
    );
    lab.run(&[]).code(0).says(r#"[\"x\\\"y\",\"5\",\"2\"]"#);
}

#[test]
fn variables_of_files_are_in_the_environment() {
    let lab = lab_of("dotenv");
    lab.file(".env", "ALL=base\nDEVELOPMENT=base\nLOCAL=base\nBASE=base\nGIVEN=base\n");
    lab.file(".env.development", "ALL=development\nDEVELOPMENT=development\nLOCAL=development\n");
    lab.file(".env.local", "ALL=local\nLOCAL=local\n");
    lab.file(".env.development.local", "ALL=development.local\n");
    lab.run(&["-e", "GIVEN=flag"]).code(0);
    lab.run(&["-e", "GIVEN=flag", "--features", "freeze-env"]).code(0);
    // In a test environment what one person has set for itself does not count.
    lab.run(&["-e", "GIVEN=flag", "-e", "K6_ENV=test"]).code(99);
}

#[test]
fn a_file_of_variables_that_is_wrong_ends_the_test() {
    let lab = Lab::with("import 'k6/x/dotenv';\nexport default function () {}");
    lab.file(".env", "A=1\nB='open");
    let why = "k6/x/dotenv: .env: line 2: the value begins with ', expected a closing '";
    lab.run(&[]).code(107).says(why);
    lab.run(&["-e", "K6_ENV=false"]).code(0);
}

#[test]
fn a_seed_makes_the_same_values() {
    let lab = lab_of("faker");
    lab.run(&["-e", "XK6_FAKER_SEED=11"]).code(0);
    lab.run(&["-e", "XK6_FAKER_SEED=x"]).code(107).says("k6/x/faker: XK6_FAKER_SEED is \"x\", expected a whole number");
}

#[test]
fn files_are_written_and_read() {
    let lab = lab_of("file");
    let folder = format!("FOLDER={}", lab.path().display());
    lab.run(&["-e", &folder]).code(0);
    assert!(!lab.path().join("onrush/log.txt").exists(), "teardown deletes the folder and all in it");
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
    let lab = lab_of("sql/sqlite");
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

/// A broker that takes one client: its greeting, and what else it says until it hangs up.
fn broker(answers: &'static [&'static [u8]]) -> (String, thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    let serving = thread::spawn(move || {
        let (mut client, _): (TcpStream, _) = listener.accept().expect("the client connects");
        client.set_read_timeout(Some(Duration::from_secs(20))).expect("not zero");
        let (mut heard, mut room) = (Vec::new(), [0; 1000]);
        for answer in answers {
            let length = client.read(&mut room).expect("the client speaks");
            heard.extend_from_slice(&room[..length]);
            client.write_all(answer).expect("the client listens");
        }
        // A client that leaves an answer unread resets the connection: an end as well.
        let _ended = client.read_to_end(&mut heard);
        heard
    });
    (address, serving)
}

#[test]
fn a_client_of_mqtt_says_goodbye_when_its_iteration_is_cut_short() {
    let (address, serving) = broker(&[b"\x20\x02\x00\x00"]);
    let script = "import { Client } from 'k6/x/mqtt';
        const scenario = { executor: 'constant-vus', duration: '1s', gracefulStop: '0s' };
        export const options = { scenarios: { scenario } };
        export default function () {
            const client = new Client({ client_id: 'ab' });
            client.on('message', () => {});
            client.connect(__ENV.BROKER);
        }";
    let variable = format!("BROKER={address}");
    Lab::with(script).run(&["-e", &variable]).code(0);
    let heard = serving.join().unwrap();
    // CONNECT by MQTT 4 with a clean session and 60 s, then DISCONNECT.
    let greeting = b"\x10\x0e\x00\x04MQTT\x04\x02\x00\x3c\x00\x02ab";
    assert_eq!(heard, [&greeting[..], b"\xe0\x00"].concat());
}

#[test]
fn a_broker_that_breaks_the_protocol_is_named() {
    let (address, serving) = broker(&[b"\xd0\x00"]);
    let script = "import { Client } from 'k6/x/mqtt';
        export default function () { new Client().connect(__ENV.BROKER); }";
    let variable = format!("BROKER={address}");
    let told = format!("MQTTError: mqtt://{address}: the broker's first packet is PingResp, expected CONNACK");
    Lab::with(script).run(&["-e", &variable]).says(&told);
    serving.join().unwrap();
}

#[test]
fn options_of_kafka_are_checked_and_unknown_ones_named() {
    let lab = Lab::with(
        "import { Writer, Reader, SASL_AWS_IAM } from 'k6/x/kafka';
        new Writer({ brokers: ['a'], topics: 'x', tls: { enabled: true } });
        new Reader({ brokers: ['a'], topic: 'x', sasl: { algorithm: SASL_AWS_IAM } });
        export default function () {}",
    );
    let run = lab.run(&[]).code(107).says(r#"new Writer: unknown option \"topics\" is ignored"#);
    run.says(r#"unknown option \"enabled\" is ignored"#)
        .says("new Reader: sasl: the algorithm sasl_aws_iam is not supported yet, expected none, sasl_plain")
        .says("script.js:3:");
}

#[test]
fn what_is_no_kafka_is_named() {
    let (address, serving) = broker(&[b"HTTP/1.1 400 Bad Request\r\n\r\n"]);
    let script = "import { Connection } from 'k6/x/kafka';
        const connection = new Connection({ address: __ENV.BROKER });
        export default function () { connection.listTopics(); }";
    let variable = format!("BROKER={address}");
    let told = format!("listTopics: broker {address}: a response of 1213486160 bytes, expected 104857600 at most");
    Lab::with(script).run(&["-e", &variable]).says(&told);
    serving.join().unwrap();
}
