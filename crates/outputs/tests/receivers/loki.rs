//! Log lines in Grafana Loki's JSON.

use std::sync::{Arc, Mutex};

use onrush_outputs::{LogLine, Loki};

use crate::http::{Manner, Receiver};

fn shown(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

fn put(loki: &Loki, level: &str, message: &str, fields: &[(&str, &str)]) {
    if loki.takes(level) {
        loki.put(&LogLine { level, message, fields, shown });
    }
}

/// What it said at once and at the end.
fn told(argument: &str, log: impl FnOnce(&Loki)) -> (Vec<String>, Vec<String>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let lines = told.clone();
    let loki = Loki::start(argument, Arc::new(move |text| lines.lock().unwrap().push(text.to_owned())));
    let loki = loki.unwrap_or_else(|error| panic!("{error}"));
    log(&loki);
    let end = loki.flush();
    (told.lock().unwrap().clone(), end)
}

/// The body of its only request, without the moments, of which each has 19 digits.
fn body(receiver: &Receiver) -> String {
    let got = receiver.got();
    let [(head, body)] = &got[..] else { panic!("one request, not {}", got.len()) };
    for line in ["POST /loki/api/v1/push HTTP/1.1", "Content-Type: application/json", "X-Scope-OrgID: shop"] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
    let text = String::from_utf8(body.clone()).unwrap();
    let mut moments = 0;
    let parts: Vec<&str> = text
        .split('"')
        .map(|part| {
            let is_moment = part.len() == 19 && part.bytes().all(|byte| byte.is_ascii_digit());
            moments += u32::from(is_moment);
            if is_moment { "NOW" } else { part }
        })
        .collect();
    assert!(moments > 0, "{text}");
    parts.join("\"")
}

#[test]
fn lines_are_streams_by_label_and_those_beyond_the_limit_are_counted() {
    let receiver = Receiver::start(Manner::Answers(204));
    let settings = "label.app=shop,header.X-Scope-OrgID=shop,allowedLabels=[level],level=info,limit=3,msgMaxSize=20";
    let url = format!("http://{}/loki/api/v1/push,{settings}", receiver.address);
    let (at_once, end) = told(&url, |loki| {
        put(loki, "info", "a \"b\"", &[("source", "console")]);
        put(loki, "debug", "not wanted", &[]);
        put(loki, "error", "äöü is cut where a character ends", &[]);
        put(loki, "info", "c", &[]);
        put(loki, "info", "too many", &[]);
        put(loki, "info", "far too many", &[]);
    });
    assert_eq!((at_once, end), (vec![], vec![]));
    let expected = concat!(
        r#"{"streams":[{"stream":{"app":"shop","level":"error"},"values":[["NOW","#,
        r#""äöü is cut where … (16 characters more)"]]},"#,
        r#"{"stream":{"app":"shop","level":"info"},"values":[["NOW","a \"b\" source=console"],["NOW","c"]]},"#,
        r#"{"stream":{"app":"shop","level":"warning"},"values":[["NOW","#,
        r#""2 log lines were dropped: more than limit=3 within a period of 1s"]]}]}"#,
    );
    assert_eq!(body(&receiver), expected);
}

#[test]
fn all_fields_are_labels_without_a_list_and_the_end_tells_of_the_pushes() {
    let receiver = Receiver::start(Manner::Answers(204));
    let url = format!("http://{}/loki/api/v1/push,header.X-Scope-OrgID=shop,profile", receiver.address);
    let (at_once, end) = told(&url, |loki| put(loki, "warning", "m", &[("error", "x"), ("source", "stacktrace")]));
    assert!(at_once.is_empty() && end[0].starts_with("log lines pushed to Loki: 1; the longest push took "), "{end:?}");
    let expected =
        r#"{"streams":[{"stream":{"error":"x","level":"warning","source":"stacktrace"},"values":[["NOW","m"]]}]}"#;
    assert_eq!(body(&receiver), expected);
}

#[test]
fn a_loki_that_refuses_or_hangs_is_told_and_its_lines_are_counted() {
    let cases = [
        (Manner::Answers(500), " answered 500 Because: the database is on fire"),
        (Manner::Hangs, "no answer within 5 s"),
    ];
    for (manner, why) in cases {
        let receiver = Receiver::start(manner);
        let (at_once, end) = told(&format!("http://{}/push", receiver.address), |loki| {
            put(loki, "info", "a", &[]);
            put(loki, "info", "b", &[]);
        });
        let [first] = &at_once[..] else { panic!("{at_once:?}") };
        assert!(first.starts_with("log lines cannot be pushed to Loki: ") && first.ends_with(why), "{first}");
        let [last] = &end[..] else { panic!("{end:?}") };
        assert!(last.starts_with("log lines that could not be pushed to Loki: 2 (") && last.contains(why), "{last}");
    }
}
