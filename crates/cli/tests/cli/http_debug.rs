//! `--http-debug` and `--ws-debug`: what is sent and what comes back, as log lines; of one user with `--debug-vu`.
//!
//! Heads and frames are those on the wire, so the tests know them to the byte.

use crate::lab::Lab;

const TALK: &str = "import http from 'k6/http'; import { group } from 'k6';
    export const options = { iterations: 1 };
    export default function () {
      http.post(`${__ENV.TARGET}/status/201`, 'the body', { headers: { 'x-one': '1' }, cookies: { a: 'b' } });
      group('hop', () => { http.get(`${__ENV.TARGET}/redirect/1`, { responseType: 'none' }); });
      http.get('http://127.0.0.1:1/');
      http.get(`${__ENV.TARGET}/gzip`);
    }";

/// The lines of the log that show requests and responses, as JSON.
fn shown(arguments: &[&str]) -> Vec<serde_json::Value> {
    let all: Vec<&str> = ["--serve", "--log-format", "json"].into_iter().chain(arguments.iter().copied()).collect();
    let run = Lab::with(TALK).run(&all).code(0);
    let lines = run.stderr.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["source"] == "http-debug").collect()
}

fn message(line: &serde_json::Value) -> &str {
    line["msg"].as_str().expect("a message")
}

#[test]
fn heads_are_shown_as_sent() {
    let lines = shown(&["--http-debug"]);
    let starts: Vec<&str> =
        lines.iter().map(|line| message(line).split(" HTTP/1.1").next().unwrap_or_default()).collect();
    let (request, response) = ("Request:\n", "Response:\n");
    let expected = ["POST /status/201", "", "GET /redirect/1", "", "GET /get", "", "GET /", "GET /gzip", ""];
    let expected = expected.map(|line| if line.is_empty() { response.to_owned() } else { format!("{request}{line}") });
    for (start, expected) in starts.iter().zip(&expected) {
        assert!(start.starts_with(expected.as_str()), "{expected:?} in {starts:?}");
    }
    assert_eq!(starts.len(), expected.len(), "{starts:?}");
    let post = message(&lines[0]);
    for part in ["\nHost: 127.0.0.1:", "\nContent-Length: 8\n", "\nX-One: 1\n", "\nCookie: a=b\n"] {
        assert!(post.contains(part), "{part:?} in {post}");
    }
    assert!(post.ends_with("\n\n\n"), "{post}");
    assert!(message(&lines[1]).contains("HTTP/1.1 201 Created\n"));
    assert!(message(&lines[4]).contains("\nReferer: http://127.0.0.1:"));
    assert_eq!((&lines[0]["group"], &lines[2]["group"]), (&"".into(), &"::hop".into()));
    for line in &lines {
        assert_eq!((&line["vu"], &line["iter"], &line["scenario"]), (&1.into(), &0.into(), &"default".into()));
    }
    assert_eq!(lines[0]["request_id"], lines[1]["request_id"]);
    assert_ne!(lines[1]["request_id"], lines[2]["request_id"]);
}

#[test]
fn bodies_are_shown_in_full() {
    let lines = shown(&["--http-debug=full"]);
    assert!(message(&lines[0]).ends_with("\n\nthe body\n"));
    let decoded = message(lines.last().expect("lines"));
    assert!(decoded.contains("\"gzipped\": true"), "{decoded}");
}

#[test]
fn nothing_is_shown_unless_asked() {
    assert!(shown(&[]).is_empty());
}

const USERS: &str = "import http from 'k6/http'; import ws from 'k6/ws'; import { WebSocket } from 'k6/websockets'
    export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 1 } } }
    const SOCKETS = `ws${__ENV.TARGET.slice(4)}/ws/echo`
    export function setup() { http.get(`${__ENV.TARGET}/get?of=setup`) }
    export default function () {
      http.get(`${__ENV.TARGET}/get?of=${__VU}`)
      ws.connect(SOCKETS, (socket) => {
        socket.on('open', () => {
          socket.send(`hello from ${__VU}`)
          socket.sendBinary(new Uint8Array([1, 255]).buffer)
        })
        let messages = 0
        const count = () => { messages += 1; if (messages === 2) { socket.ping(); socket.close(4000) } }
        socket.on('message', count); socket.on('binaryMessage', count)
      })
      const socket = new WebSocket(SOCKETS)
      socket.onopen = () => socket.send('é'.repeat(200))
      socket.onmessage = () => socket.close(1000, 'enough')
    }";

/// The lines from one of the two, as JSON.
fn lines_of(source: &str, arguments: &[&str]) -> Vec<serde_json::Value> {
    let all: Vec<&str> = ["--serve", "--log-format", "json"].into_iter().chain(arguments.iter().copied()).collect();
    let run = Lab::with(USERS).run(&all).code(0);
    let lines = run.stderr.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.filter(|line| line["source"] == source).collect()
}

#[test]
fn frames_are_shown_with_direction_opcode_size_and_beginning() {
    let lines = lines_of("ws-debug", &["--ws-debug", "--debug-vu", "2"]);
    let all: Vec<&str> = lines.iter().map(message).collect();
    let long = "é".repeat(64);
    for expected in [
        "Sent: text, 12 bytes: hello from 2",
        "Received: text, 12 bytes: hello from 2",
        "Sent: binary, 2 bytes: 01 ff",
        "Received: binary, 2 bytes: 01 ff",
        "Sent: close, 2 bytes: 4000",
        &format!("Sent: text, 400 bytes: {long}…"),
        &format!("Received: text, 400 bytes: {long}…"),
        "Sent: close, 8 bytes: 1000 enough",
    ] {
        assert_eq!(all.iter().filter(|line| **line == expected).count(), 1, "{expected:?} in {all:#?}");
    }
    assert!(all.iter().any(|line| line.starts_with("Sent: ping, ")), "{all:#?}");
    for line in &lines {
        assert_eq!((&line["vu"], &line["iter"], &line["scenario"]), (&2.into(), &0.into(), &"a".into()));
        assert!(line["url"].as_str().is_some_and(|url| url.ends_with("/ws/echo")), "{line}");
    }
    let of_all = lines_of("ws-debug", &["--ws-debug"]);
    let users: std::collections::BTreeSet<u64> = of_all.iter().filter_map(|line| line["vu"].as_u64()).collect();
    assert_eq!(users.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(lines_of("ws-debug", &["--http-debug"]).is_empty());
}

#[test]
fn one_user_is_shown_alone() {
    let of = |user: &str| {
        let lines = lines_of("http-debug", &["--http-debug=full", "--debug-vu", user]);
        let heads = lines.iter().map(|line| message(line).lines().nth(1).unwrap_or_default().to_owned());
        heads.filter(|head| head.starts_with("GET")).collect::<Vec<String>>()
    };
    assert_eq!(of("3"), ["GET /get?of=3 HTTP/1.1"]);
    assert_eq!(of("0"), ["GET /get?of=setup HTTP/1.1"]);
    let run = |arguments: &[&str]| Lab::with(USERS).run(&[&["--serve"], arguments].concat()).code(0);
    run(&["--debug-vu", "4", "--ws-debug"]).says("debugVU: found user 4, expected one of at most 3, or 0 for setup()");
    run(&["--debug-vu", "3"]).says("debugVU: found 3 and nothing to show of it, expected --http-debug or --ws-debug");
}
