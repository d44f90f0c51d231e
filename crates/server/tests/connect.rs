//! Calls of Connect by HTTP/1.1: messages, errors, metadata and streams, byte for byte.

#![allow(clippy::unwrap_used)]

mod client;

use client::{Answer, Client, connect, server};

const TARGET: &str = "/onrush.test.v1.Target/";

fn call<S: std::io::Read + std::io::Write>(client: &mut Client<S>, method: &str, json: &str) -> Answer {
    client.post(&format!("{TARGET}{method}"), "application/json", json.as_bytes())
}

/// A message of a stream with its prefix.
fn enveloped(flags: u8, message: &str) -> Vec<u8> {
    let mut bytes = vec![flags];
    bytes.extend((message.len() as u32).to_be_bytes());
    bytes.extend(message.as_bytes());
    bytes
}

#[test]
fn a_message_is_a_request() {
    let server = server(1);
    let mut client = connect(&server);
    let answer = call(&mut client, "Collect", "{}");
    assert_eq!(answer.status, 415, "Collect is a stream");
    let answer = call(&mut client, "Delay", r#"{"milliseconds":20,"unknown":1}"#);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    assert!(answer.json()["heldMs"].as_f64().unwrap() >= 20.0);
    let answer = client.post(&format!("{TARGET}Echo"), "application/proto", b"\x72\x02hi");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/proto")));
    assert_eq!(answer.body, b"\x72\x02hi");
    let answer = call(&mut client, "Echo", r#"{"aString":"hi","anInt64":"-9007199254740993"}"#);
    assert_eq!((&answer.json()["aString"], &answer.json()["anInt64"]), (&"hi".into(), &"-9007199254740993".into()));
}

#[test]
fn an_error_is_a_status_and_json() {
    let server = server(1);
    let mut client = connect(&server);
    for (method, json, status, expected) in [
        ("Fail", r#"{"code":5,"message":"gone"}"#, 404, r#"{"code":"not_found","message":"gone"}"#),
        ("Fail", r#"{"code":1}"#, 499, r#"{"code":"canceled"}"#),
        ("Fail", r#"{"code":77}"#, 500, r#"{"code":"unknown"}"#),
        (
            "Fail",
            r#"{"code":3,"details":[{"@type":"type.googleapis.com/onrush.test.v1.DelayRequest","milliseconds":7}]}"#,
            400,
            r#"{"code":"invalid_argument","details":[{"type":"onrush.test.v1.DelayRequest","value":"CAc"}]}"#,
        ),
        (
            "Delay",
            r#"{"milliseconds":"x"}"#,
            400,
            "{\"code\":\"invalid_argument\",\"message\":\
             \"the message is not in order: milliseconds: expected uint32, found \\\"x\\\"\"}",
        ),
        (
            "Nothing",
            "{}",
            501,
            r#"{"code":"unimplemented","message":"unknown method \"/onrush.test.v1.Target/Nothing\""}"#,
        ),
    ] {
        let answer = call(&mut client, method, json);
        assert_eq!((answer.status, answer.text()), (status, expected), "{method} {json}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[test]
fn time_and_codings_are_read_from_the_head() {
    let server = server(1);
    let mut client = connect(&server);
    for (field, expected) in [
        ("connect-timeout-ms: 50", "deadline_exceeded"),
        ("connect-timeout-ms: soon", "internal"),
        ("content-encoding: br", "unimplemented"),
    ] {
        let body = r#"{"milliseconds":5000}"#;
        client.send(format!(
            "POST {TARGET}Delay HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\n{field}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        ));
        assert_eq!(client.answer().json()["code"], expected, "{field}");
    }
}

#[test]
fn metadata_comes_back_in_the_head_and_as_trailers() {
    let server = server(1);
    let mut client = connect(&server);
    client.send(format!(
        "POST {TARGET}Metadata HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\nx-a: 1\r\n\
         content-length: 2\r\n\r\n{{}}"
    ));
    let answer = client.answer();
    assert_eq!(answer.json()["fields"], serde_json::json!([{"name": "x-a", "value": "1"}]));
    assert_eq!((answer.header("x-a"), answer.header("trailer-x-a")), (Some("1"), Some("1")));
}

#[test]
fn a_stream_is_messages_and_a_last_one_that_says_how_it_went() {
    let server = server(1);
    let mut client = connect(&server);
    let mut stream =
        |method: &str, content_type: &str, body: &[u8]| client.post(&format!("{TARGET}{method}"), content_type, body);
    let two = [enveloped(0, r#"{"value":1}"#), enveloped(0, r#"{"value":2.5}"#)].concat();
    let answer = stream("Collect", "application/connect+json", &two);
    let sum = enveloped(0, r#"{"count":"2","sum":3.5,"payloadBytes":"0"}"#);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/connect+json")));
    assert_eq!(answer.body, [sum, enveloped(2, "{}")].concat());
    let asked = enveloped(0, r#"{"count":0,"code":9,"message":"enough"}"#);
    let answer = stream("Count", "application/connect+json", &asked);
    assert_eq!(answer.body, enveloped(2, r#"{"error":{"code":"failed_precondition","message":"enough"}}"#));
    // Many that are there at once leave in turn: 127 messages, of which 64 may wait.
    let answer = stream("Count", "application/connect+proto", &enveloped(0, "\x08\x7f\x18\x01"));
    let (mut rest, mut messages) = (&*answer.body, 0);
    while let [0, _, _, _, length, behind @ ..] = rest {
        rest = &behind[*length as usize..];
        messages += 1;
    }
    assert_eq!((messages, rest), (127, &*enveloped(2, "{}")));
    let answer = stream("Collect", "application/connect+json", &enveloped(0, "{}")[..6]);
    let cut = r#"{"error":{"code":"internal","message":"the request ends within a message"}}"#;
    assert_eq!(answer.body, enveloped(2, cut));
}
