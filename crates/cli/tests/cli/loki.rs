//! `--log-output loki`: lines of the script and of the run go there, and the summary stays where it is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::lab::Lab;

/// A Loki that takes everything: its URL, and the bodies that it gets.
fn loki() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/loki/api/v1/push", listener.local_addr().expect("an address"));
    let (sender, bodies) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            loop {
                let (mut line, mut length) = (String::new(), 0);
                while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                    length = line
                        .strip_prefix("Content-Length: ")
                        .map_or(length, |text| text.trim().parse().expect("a number"));
                    line.clear();
                }
                let mut body = vec![0; length];
                if length == 0 || reader.read_exact(&mut body).is_err() {
                    break;
                }
                let _test_is_there = sender.send(serde_json::from_slice(&body).expect("JSON"));
                reader.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("an answer");
            }
        }
    });
    (url, bodies)
}

#[test]
fn lines_of_the_script_and_of_the_run_are_pushed() {
    let lab = Lab::with(
        "import secrets from 'k6/secrets'
         export default async function () {
           console.warn('from the script', await secrets.get('key'))
           console.debug('not shown')
           throw new Error('boom')
         }",
    );
    let (url, bodies) = loki();
    let output = format!("loki={url},label.test=it,allowedLabels=[level,test],pushPeriod=50ms");
    let run = lab.run(&["--log-output", &output, "--secret-source", "mock=key=hidden"]).code(0);
    assert!(!run.stderr.contains("from the script") && !run.stderr.contains("boom"), "{}", run.stderr);
    let bodies: Vec<Value> = bodies.try_iter().collect();
    let streams: Vec<&Value> = bodies.iter().flat_map(|body| body["streams"].as_array().expect("streams")).collect();
    let lines = |level: &str| -> Vec<&str> {
        let of_level = streams.iter().filter(|stream| stream["stream"]["level"] == level);
        of_level.flat_map(|stream| stream["values"].as_array().unwrap()).map(|line| line[1].as_str().unwrap()).collect()
    };
    assert!(streams.iter().all(|stream| stream["stream"]["test"] == "it"), "{streams:?}");
    assert_eq!(lines("warning")[0], "from the script ***SECRET_REDACTED*** source=console");
    assert!(lines("error").iter().any(|line| line.contains("Error: boom")), "{streams:?}");
    assert!(lines("debug").is_empty());
}

#[test]
fn what_is_wrong_with_it_is_said_before_the_test_and_nobody_there_at_its_end() {
    let lab = Lab::with("export default function () { console.log('it ran') }");
    let run = lab.run(&["--log-output", "loki=http://127.0.0.1:1/,limits=3"]).code(255);
    let expected = "error: --log-output loki=http://127.0.0.1:1/,limits=3: unknown key 'limits'; did you mean \
                    'limit'?, expected one of label.NAME, limit, level, pushPeriod, profile, msgMaxSize, \
                    allowedLabels, header.NAME\n";
    assert_eq!(run.stderr, expected);
    let run = lab.run(&["--log-output", "loki=http://127.0.0.1:1/"]).code(0);
    let why = "http://127.0.0.1:1/: dial: connection refused";
    assert!(run.stderr.contains(&format!("warning: log lines cannot be pushed to Loki: {why}\n")), "{}", run.stderr);
    assert!(run.stdout.contains(&format!("log lines that could not be pushed to Loki: 1 ({why})")), "{}", run.stdout);
}
