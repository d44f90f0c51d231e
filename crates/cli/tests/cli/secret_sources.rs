//! `--secret-source`: where `k6/secrets` gets secrets, what hides them, and what is said of sources that cannot work.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::lab::{Lab, finish};

const SCRIPT: &str = r#"
import secrets from 'k6/secrets'
import http from 'k6/http'
import { check, group } from 'k6'
export const options = { throw: true }
export default async function () {
  const token = await secrets.get('token')
  const other = await secrets.source('env').get('OTHER')
  const fetched = await secrets.source('url').get('a b')
  check(null, { 'values': () => token.length === 8 && other.length === 5 && fetched.length === 7 })
  group(`in ${token}`, () => check(http.get(`${__ENV.TARGET}/anything?q=${encodeURIComponent(token)}`), {
    [`sent ${other}`]: (r) => r.body.includes('x\\"y=z'),
  }))
  console.log('console', token, { token, fetched })
  console.error(other)
  throw new Error(`thrown ${fetched}`)
}
export function handleSummary(data) { return { stdout: JSON.stringify(data) } }
"#;

/// A server that gives one secret to who asks in the right way; its address.
fn keeper() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens").to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a whole head");
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let is_right = head.starts_with("get /v1/a%20b http/1.1") && head.contains("x-key: sec\r\n");
        let body = format!("{{\"data\":{{\"value\":\"{}\"}}}}", if is_right { "sec-abc" } else { "wrong" });
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).expect("it is read");
    });
    address
}

#[test]
fn secrets_of_sources_are_shown_nowhere() {
    let lab = Lab::with(SCRIPT);
    lab.file("secrets.txt", "token = abx\"y=zc\n\nunused=1\n");
    let url = "--secret-source=url=responsePath=data.value";
    let sources = ["--secret-source=file=filename=secrets.txt,default", "--secret-source=env=prefix=APP_", url];
    let more = ["--serve", "--save", "r", "--summary-export", "export.json", "script.js"];
    let mut command = lab.command(&[&["run"], &sources[..], &more[..]].concat());
    command.env("APP_OTHER", "0ther");
    command.env("K6_SECRET_SOURCE_URL_URL_TEMPLATE", format!("http://{}/v1/{{key}}", keeper()));
    command.env("K6_SECRET_SOURCE_URL_HEADER_X-KEY", "sec");
    let run = finish(command).code(0);
    let page = lab.onrush(&["report", "r", "-o", "-"]).code(0).stdout;
    let places = [
        ("stdout", &run.stdout),
        ("stderr", &run.stderr),
        ("export", &lab.read("export.json")),
        ("result", &lab.read("r/result.json")),
        ("report", &page),
    ];
    for (place, text) in places {
        for secret in ["abx", "y=zc", "y%3Dzc", "0ther", "sec-abc"] {
            assert!(!text.contains(secret), "{place} shows {secret}: {text}");
        }
        assert!(text.contains("***SECRET_REDACTED***"), "{place}: {text}");
    }
    assert!(run.stdout.contains(r#""passes":1,"fails":0"#), "{}", run.stdout);
}

#[test]
fn sources_that_cannot_work_end_the_run_before_it_begins() {
    let lab = Lab::with("export default function () {}");
    lab.file("secrets.txt", "a=1\nno key here\n");
    for (source, message) in [
        (
            "file=nope.txt",
            "--secret-source file=nope.txt: cannot read nope.txt: No such file or directory (os error 2)",
        ),
        ("file=secrets.txt", "--secret-source file=secrets.txt: line 2 of secrets.txt has no '=', expected key=value"),
        ("vault", "--secret-source vault: 'vault' is no type of secret source, expected file, env, url or mock"),
    ] {
        let run = lab.run(&["--secret-source", source]).code(255);
        assert!(run.stderr.contains(message), "{}", run.stderr);
        assert!(!run.stderr.contains("no key here"));
    }
}
