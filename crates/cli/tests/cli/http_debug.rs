//! `--http-debug`: what is sent and what comes back, as log lines tied together by an id.

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
