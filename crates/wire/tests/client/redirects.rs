//! Redirects: each hop is an exchange, and every request the server counted is one.

use std::time::Duration;

use onrush_wire::request::Method;
use onrush_wire::{FailureKind, Request, Settings};

use crate::server::{Scripted, body, fixed_hosts, get, headers, outcome, post, response, send};

/// `/n?302` redirects to `/n-1?302`; `/0` answers.
fn countdown() -> Scripted {
    Scripted::start(|seen| {
        let (path, status) = seen.target.split_once('?').unwrap_or((&seen.target, "302"));
        match path[1..].parse::<u32>() {
            Ok(0) | Err(_) => response("200 OK", &[], b"arrived"),
            Ok(n) => response(&format!("{status} Go"), &[&format!("Location: {}?{status}", n - 1)], b"moved"),
        }
    })
}

#[test]
fn each_hop_is_an_exchange_in_order() {
    let server = countdown();
    let all = send(Settings::default(), &post(&server.url("/3"), "hello"), None);
    assert_eq!(all.iter().map(outcome).collect::<Vec<_>>(), ["302", "302", "302", "200"]);
    assert_eq!(all.iter().map(|e| e.url.path().to_owned()).collect::<Vec<_>>(), ["/3", "/2", "/1", "/0"]);
    assert_eq!(server.lines(), ["POST /3", "GET /2?302", "GET /1?302", "GET /0?302"]);
    assert_eq!(body(&all[3]), b"arrived");
    assert_eq!((server.seen()[0].body.as_slice(), server.last().body.as_slice()), (&b"hello"[..], &b""[..]));
    assert_eq!(
        (server.seen()[1].header("content-length"), server.seen()[1].header("referer")),
        ("-".into(), server.url("/3"))
    );
    let reused: Vec<bool> = all.iter().map(|e| e.connection.as_ref().unwrap().reused).collect();
    assert_eq!(reused, [false, true, true, true]);
}

#[test]
fn a_body_goes_along_with_307_and_308() {
    for status in ["307", "308"] {
        let server = countdown();
        let request = Request {
            headers: headers(&[("Content-Type", "text/x")]),
            ..post(&server.url(&format!("/2?{status}")), "hello")
        };
        let all = send(Settings::default(), &request, None);
        assert_eq!(outcome(all.last().unwrap()), "200");
        for seen in server.seen() {
            assert_eq!(
                (seen.method.as_str(), seen.body.as_slice(), seen.header("content-type").as_str()),
                ("POST", &b"hello"[..], "text/x")
            );
        }
        assert_eq!(server.seen().len(), 3);
    }
}

#[test]
fn past_the_limit_the_redirect_is_the_result() {
    for (limit, hops, left) in [(0, 1, true), (2, 3, true), (3, 4, false)] {
        let server = countdown();
        let all = send(Settings::default(), &Request { max_redirects: limit, ..get(&server.url("/3")) }, None);
        assert_eq!((all.len(), server.seen().len()), (hops, hops));
        assert_eq!(all.last().unwrap().is_unfollowed_redirect(), left, "limit {limit}");
    }
}

#[test]
fn head_stays_head() {
    let server = Scripted::start(|seen| match seen.target.as_str() {
        "/a" => b"HTTP/1.1 303 Go\r\nLocation: /b\r\nContent-Length: 9\r\n\r\n".to_vec(),
        _ => b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec(),
    });
    send(Settings::default(), &Request { method: Method::Head, ..get(&server.url("/a")) }, None);
    assert_eq!(server.lines(), ["HEAD /a", "HEAD /b"]);
}

#[test]
fn secrets_do_not_go_to_another_host() {
    let other = Scripted::start(|_| response("200 OK", &[], b""));
    let target = format!("Location: http://other.test:{}/b", other.address.port());
    let first = Scripted::start(move |_| response("302 Go", &[&target], b""));
    let hosts = fixed_hosts(&[("other.test", "127.0.0.1")]);
    let secret = headers(&[("Authorization", "token"), ("Cookie", "own=1"), ("X-A", "1")]);
    let all =
        send(Settings { hosts, ..Settings::default() }, &Request { headers: secret, ..get(&first.url("/a")) }, None);
    assert_eq!(outcome(&all[1]), "200");
    assert_eq!((first.last().header("authorization"), first.last().header("cookie")), ("token".into(), "own=1".into()));
    let seen = other.last();
    assert_eq!(
        (seen.header("authorization"), seen.header("cookie"), seen.header("x-a")),
        ("-".into(), "-".into(), "1".into())
    );
    assert_eq!(seen.header("host"), format!("other.test:{}", other.address.port()));
}

#[test]
fn a_location_that_leads_nowhere_is_the_failure_after_its_hop() {
    let server = Scripted::start(|_| response("302 Go", &["Location: http://a b/"], b""));
    let all = send(Settings::default(), &get(&server.url("/a")), None);
    assert_eq!(all.len(), 2);
    assert_eq!(outcome(&all[0]), "302");
    let failure = all[1].outcome.as_ref().unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidUrl);
    assert!(failure.message.starts_with("failed to parse Location header \"http://a b/\": parse "), "{failure}");
}

#[test]
fn the_timeout_covers_all_hops() {
    let server = Scripted::start(|_| {
        std::thread::sleep(Duration::from_millis(40));
        response("302 Go", &["Location: /again"], b"")
    });
    let request = Request { timeout: Some(Duration::from_millis(150)), max_redirects: 1000, ..get(&server.url("/a")) };
    let all = send(Settings::default(), &request, None);
    assert_eq!(outcome(all.last().unwrap()), "Timeout: request timeout");
    // Had the time begun again at each hop, none would have been over.
    assert!((2..=5).contains(&all.len()), "{} hops", all.len());
}
