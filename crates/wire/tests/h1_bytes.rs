//! Byte tables of HTTP/1.1: the server reads this, replies that, the client must see this.

#![allow(clippy::unwrap_used)]

mod support;

use std::rc::Rc;
use std::time::Duration;

use onrush_wire::request::BodyUse;
use onrush_wire::{Body, FailureKind, Method, Payload, Request, Segment, Settings, Step, Url};
use support::{Act, Peer, body, failure, get, post, send, send_all, settings, write};

#[test]
fn bytes_of_a_broken_response_are_counted() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(&format!("{head}half"))]]);
    let exchange = send_all(settings(), &[get(peer.url("/"))]).remove(0);
    assert_eq!(failure(&exchange), "unexpected EOF");
    let sent = peer.finish().remove(0).len();
    assert_eq!((exchange.bytes_sent, exchange.bytes_received), (sent as u64, head.len() as u64 + 4));
}

#[test]
fn a_small_get_goes_out_and_comes_back() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")]]);
    let exchange = send(&get(peer.url("/a?b=c")));
    assert_eq!(body(&exchange), b"hi");
    let expected = format!("GET /a?b=c HTTP/1.1\r\nHost: {}\r\nUser-Agent: t\r\n\r\n", peer.address);
    assert_eq!(exchange.bytes_sent, expected.len() as u64);
    assert_eq!(exchange.bytes_received, 40);
    let connection = exchange.connection.unwrap();
    assert_eq!(connection.remote, Some(peer.address));
    assert!(!connection.reused);
    assert_eq!(peer.finish(), [expected.into_bytes()]);
}

#[test]
fn a_body_of_many_segments_goes_out_in_order() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]]);
    let mut payload = Payload::empty();
    let expected: Vec<u8> = (0..900_000u32).map(|i| (i % 251) as u8).collect();
    payload.push(Segment::Static(b""));
    for piece in expected.chunks(10_007) {
        payload.push(Segment::Shared(bytes::Bytes::copy_from_slice(piece)));
    }
    let exchange = send(&Request { method: Method::Put, body: Some(payload), ..get(peer.url("/")) });
    assert_eq!(body(&exchange), b"");
    let request = peer.finish().remove(0);
    assert!(request.starts_with(b"PUT / HTTP/1.1\r\n"));
    assert!(request.ends_with(&expected), "the upload differs");
}

/// What the client must see of a reply.
enum See {
    /// This body, and the connection used again (or not).
    Body(&'static str, bool),
    /// No body by definition.
    Nothing(bool),
    /// A failure: step, kind, text.
    Fails(Step, FailureKind, &'static str),
}

/// Sends twice with one client: the second request shows whether the first connection was kept.
fn check(method: Method, reply: &[u8], see: &See, note: &str) {
    let second = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond".to_vec();
    let first = vec![Act::ReadRequest, Act::Write(reply.to_vec()), Act::Pause(Duration::from_millis(1))];
    let again = vec![Act::ReadRequest, Act::Write(second)];
    let kept = matches!(see, See::Body(_, true) | See::Nothing(true));
    let connections = if kept { vec![[first, again].concat()] } else { vec![first, again] };
    let peer = Peer::play(connections);
    let requests = [Request { method, ..get(peer.url("/1")) }, get(peer.url("/2"))];
    let exchanges = send_all(settings(), &requests);
    match see {
        See::Body(expected, _) => assert_eq!(String::from_utf8_lossy(&body(&exchanges[0])), *expected, "{note}"),
        See::Nothing(_) => assert!(matches!(exchanges[0].outcome.as_ref().unwrap().body, Body::None), "{note}"),
        See::Fails(step, kind, text) => {
            let found = exchanges[0].outcome.as_ref().expect_err(note);
            assert_eq!((found.step, found.kind, found.message.as_str()), (*step, *kind, *text), "{note}");
        }
    }
    assert_eq!(body(&exchanges[1]), b"second", "{note}");
    assert_eq!(exchanges[1].connection.as_ref().unwrap().reused, kept, "{note}");
    assert_eq!(peer.finish().len(), 2, "{note}");
}

#[test]
fn replies_are_read_as_the_rfc_says() {
    use See::{Body as B, Nothing as N};
    let get = || Method::Get;
    let rows: Vec<(Method, &str, See)> = vec![
        (get(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", B("", true)),
        (get(), "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\ncontent-length: 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", B("hi", false)),
        (get(), "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nhi", B("hi", false)),
        (get(), "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", B("hi", false)),
        (get(), "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\n\r\nto the end", B("to the end", false)),
        (get(), "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nto the end", B("to the end", false)),
        (get(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\nX: y\r\n\r\n", B("hi", true)),
        (
            get(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 9\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            B("hi", false),
        ),
        (
            get(),
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: \
             2\r\n\r\nhi",
            B("hi", true),
        ),
        (get(), "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\nX: a\r\nContent-Length:\r\n 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\nHeader : x\r\nContent-Length: 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\nSome name: x\r\nContent-Length: 2\r\n\r\nhi", B("hi", true)),
        // A name with a space names no length, in Go neither: whoever disagrees about the end of a body can be smuggled
        // past.
        (get(), "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nto the end", B("to the end", false)),
        (get(), "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi", B("hi", true)),
        (get(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiGARBAGE", B("hi", false)),
        (get(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n", B("", false)),
        (get(), "HTTP/1.1 204 No Content\r\n\r\n", N(true)),
        (get(), "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", N(true)),
        (get(), "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", N(true)),
        (Method::Head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", N(true)),
        (Method::Head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", N(true)),
        (Method::Head, "HTTP/1.1 200 OK\r\n\r\n", N(true)),
        (Method::Head, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", N(false)),
    ];
    for (method, reply, see) in rows {
        check(method, reply.as_bytes(), &see, reply);
    }
}

#[test]
fn broken_replies_fail_in_words() {
    use FailureKind::{Other, Protocol};
    let rows: Vec<(String, Step, FailureKind, &str)> = vec![
        (String::new(), Step::Wait, Other, "EOF"),
        (String::from("HTTP/1.1 200 OK\r\nContent-"), Step::Receive, Other, "unexpected EOF"),
        (String::from("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), Step::Receive, Other, "unexpected EOF"),
        (
            String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi"),
            Step::Receive,
            Other,
            "unexpected EOF",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            Step::Receive,
            Protocol,
            "invalid byte in chunk length",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            Step::Receive,
            Protocol,
            "unsupported transfer encoding: \"gzip, chunked\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
            Step::Receive,
            Protocol,
            "bad Content-Length \"x\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
            Step::Receive,
            Protocol,
            "bad Content-Length \"-1\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n"),
            Step::Receive,
            Protocol,
            "bad Content-Length \"2, 3\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc"),
            Step::Receive,
            Protocol,
            "http: message cannot contain multiple Content-Length headers; got [\"3\" \"4\"]",
        ),
        (
            String::from("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"),
            Step::Receive,
            Protocol,
            "unsupported response status: 101 Switching Protocols",
        ),
        (String::from("HTTP/1.1 2x0 OK\r\n\r\n"), Step::Receive, Protocol, "malformed HTTP status code \"2x0\""),
        (String::from("hello there\r\n\r\n"), Step::Receive, Protocol, "malformed HTTP status code \"there\""),
        (String::from("hello\r\n\r\n"), Step::Receive, Protocol, "malformed HTTP response \"hello\""),
        (String::from("ICY/1.0 200 OK\r\n\r\n"), Step::Receive, Protocol, "malformed HTTP version \"ICY/1.0\""),
        (
            String::from("HTTP/1.1 200 OK\r\n X: a\r\n\r\n"),
            Step::Receive,
            Protocol,
            "malformed MIME header initial line: \" X: a\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nX\r\n\r\n"),
            Step::Receive,
            Protocol,
            "malformed MIME header: missing colon: \"X\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nX\t: a\r\n\r\n"),
            Step::Receive,
            Protocol,
            "malformed MIME header line: \"X\\t: a\"",
        ),
        (
            String::from("HTTP/1.1 200 OK\r\nX: a\x01\r\n\r\n"),
            Step::Receive,
            Protocol,
            "malformed MIME header line: \"X: a\\u{1}\"",
        ),
        (
            format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(10 << 20)),
            Step::Receive,
            Protocol,
            "net/http: server response headers exceeded 10485760 bytes; aborted",
        ),
    ];
    for (reply, step, kind, text) in rows {
        check(Method::Get, reply.as_bytes(), &See::Fails(step, kind, text), &reply[..reply.len().min(80)]);
    }
}

#[test]
fn replies_may_be_cut_anywhere() {
    let replies = [
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nhel\r\n2\r\nlo\r\n0\r\nT: 1\r\n\r\n",
    ];
    for reply in replies {
        let cuts = 1..reply.len();
        // One connection for all cuts: a cut that loses or leaves a byte spoils the next reply.
        let acts = cuts.clone().flat_map(|cut| {
            let (head, tail) = reply.split_at(cut);
            [Act::ReadRequest, write(head), Act::Pause(Duration::from_micros(1500)), write(tail)]
        });
        let peer = Peer::play(vec![acts.collect()]);
        let requests: Vec<_> = cuts.clone().map(|_| get(peer.url("/"))).collect();
        for (exchange, cut) in send_all(settings(), &requests).iter().zip(cuts) {
            assert_eq!(body(exchange), b"hello", "cut at {cut} of {reply:?}");
            assert_eq!(exchange.bytes_received, reply.len() as u64);
        }
        peer.finish();
    }
}

#[test]
fn heads_of_many_fields_are_read_up_to_the_byte_limit() {
    for fields in [127, 128, 129, 1000, 10_000, 100_000] {
        let lines: String = (0..fields).map(|i| format!("X-{i}: v{i}\r\n")).collect();
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{lines}\r\nhi");
        let (head, tail) = reply.split_at(reply.len() / 2);
        let acts = vec![Act::ReadRequest, write(head), Act::Pause(Duration::from_millis(1)), write(tail)];
        let peer = Peer::play(vec![acts]);
        let response = send(&get(peer.url("/"))).outcome.unwrap();
        assert_eq!(response.headers().count(), fields + 1);
        assert_eq!(response.header(&format!("x-{}", fields - 1)), Some(format!("v{}", fields - 1).as_bytes()));
        peer.finish();
    }
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: {}\r\n\r\nhi", "a".repeat(10 << 20));
    let fits = reply.replacen("aaaaaaaaaa", "", 10);
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(&fits)]]);
    assert_eq!(body(&send(&get(peer.url("/")))), b"hi");
    peer.finish();
}

#[test]
fn a_discarded_body_is_counted_not_kept() {
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n{}", "z".repeat(300_000));
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(&reply)]]);
    let exchange = send(&Request { body_use: BodyUse::Discard, ..get(peer.url("/")) });
    assert!(matches!(exchange.outcome.unwrap().body, Body::Discarded(300_000)));
    peer.finish();
}

#[test]
fn what_follows_a_discarded_body_is_never_taken_for_a_response() {
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n{}", "z".repeat(90_000));
    let surplus = format!("{reply}HTTP/1.1 500 Smuggled\r\nContent-Length: 0\r\n\r\n");
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(&surplus)], vec![Act::ReadRequest, write(&reply)]]);
    let request = || Request { body_use: BodyUse::Discard, ..get(peer.url("/")) };
    let exchanges = send_all(settings(), &[request(), request()]);
    for exchange in &exchanges {
        let response = exchange.outcome.as_ref().unwrap();
        assert_eq!(response.status, 200);
        assert!(matches!(response.body, Body::Discarded(90_000)), "{:?}", response.body);
    }
    assert!(!exchanges[1].connection.as_ref().unwrap().reused, "the connection brought more than it should");
    peer.finish();
}

#[test]
fn a_discarded_body_that_breaks_off_is_a_failure() {
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n{}", "z".repeat(50_000));
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(&reply)]]);
    let exchange = send(&Request { body_use: BodyUse::Discard, ..get(peer.url("/")) });
    assert_eq!(failure(&exchange), "unexpected EOF");
    assert_eq!(exchange.bytes_received, reply.len() as u64);
    peer.finish();
}

#[test]
fn head_fields_are_found_in_the_head_as_received() {
    let reply = "HTTP/1.1 418 I'm a  teapot\r\nX-One: a\r\n  b\r\nX Two : c\r\nSet-Cookie: \
        c=d\r\nSET-COOKIE:e=f\r\nContent-Length: 0\r\n\r\n";
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(reply)]]);
    let response = send(&get(peer.url("/"))).outcome.unwrap();
    assert_eq!((response.status, response.reason()), (418, "I'm a  teapot"));
    let cookies: Vec<_> =
        response.headers().filter(|(n, _)| n.eq_ignore_ascii_case("set-cookie")).map(|(_, v)| v).collect();
    assert_eq!(cookies, [&b"c=d"[..], b"e=f"]);
    let folded = String::from_utf8(response.header("x-one").unwrap().to_vec()).unwrap();
    assert_eq!(folded, "a b");
    assert_eq!(response.header("X Two "), Some(&b"c"[..]));
    peer.finish();
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn an_idle_connection_that_the_server_closed_is_replaced_without_a_trace() {
    let pause = Act::Pause(Duration::from_millis(5));
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(OK)], vec![Act::ReadRequest, write(OK), pause]]);
    let exchanges = support::run(settings(), async |client| {
        let first = client.send(&get(peer.url("/1")), None, &mut |_| {}).await;
        tokio::time::sleep(Duration::from_millis(30)).await;
        let second = client.send(&post(peer.url("/2"), "x"), None, &mut |_| {}).await;
        [first, second]
    });
    assert!(exchanges.iter().all(|e| body(e) == b"ok"));
    assert!(!exchanges[1].connection.as_ref().unwrap().reused);
    assert_eq!(peer.finish().len(), 2);
}

#[test]
fn a_request_that_the_server_has_read_is_never_sent_again() {
    // On a kept connection, closed or reset without an answer: the server's count of requests and ours must be the
    // same.
    let endings = [(vec![], "EOF"), (vec![Act::Reset], "read: connection reset by peer")];
    for (ending, expected) in endings {
        for second in [get as fn(Url) -> Request, |url| post(url, "")] {
            let acts = [vec![Act::ReadRequest, write(OK), Act::ReadRequest], ending.clone()].concat();
            let peer = Peer::play(vec![acts]);
            let exchanges = send_all(settings(), &[get(peer.url("/1")), second(peer.url("/2"))]);
            assert!(exchanges[1].connection.as_ref().unwrap().reused);
            assert_eq!(failure(&exchanges[1]), expected);
            assert_eq!(peer.finish().len(), 2);
        }
    }
}

#[test]
fn a_first_request_on_a_new_connection_is_never_repeated() {
    let peer = Peer::play(vec![vec![Act::ReadRequest]]);
    assert_eq!(failure(&send(&get(peer.url("/")))), "EOF");
    assert_eq!(peer.finish().len(), 1);
}

#[test]
fn a_reset_is_named() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, Act::Reset]]);
    let exchange = send(&get(peer.url("/")));
    let found = exchange.outcome.unwrap_err();
    assert_eq!((found.message.as_str(), found.kind), ("read: connection reset by peer", FailureKind::ConnectionReset));
    peer.finish();
}

#[test]
fn a_refused_connection_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let exchange = send(&get(onrush_wire::Url::parse(&format!("http://{address}/")).unwrap()));
    let timings = exchange.timings;
    assert_eq!((timings.connecting, timings.blocked, timings.duration()), Default::default());
    let found = exchange.outcome.unwrap_err();
    assert_eq!((found.message.as_str(), found.kind), ("dial: connection refused", FailureKind::DialRefused));
    assert_eq!(found.step, Step::Connect);
}

#[test]
fn the_time_of_a_request_ends_while_waiting_and_while_receiving() {
    let partial = write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
    for (acts, step) in [(vec![Act::ReadRequest], Step::Wait), (vec![Act::ReadRequest, partial], Step::Receive)] {
        let mut acts = acts;
        acts.push(Act::AwaitClose);
        let peer = Peer::play(vec![acts]);
        let exchange = send(&Request { timeout: Some(Duration::from_millis(250)), ..get(peer.url("/")) });
        let found = exchange.outcome.as_ref().unwrap_err();
        assert_eq!((found.step, found.message.as_str(), found.kind), (step, "request timeout", FailureKind::Timeout));
        assert!(exchange.timings.duration() >= Duration::from_millis(245), "{:?}", exchange.timings);
        peer.finish();
    }
}

#[test]
fn a_later_deadline_is_kept_by_the_timer_of_an_earlier_request() {
    // The first request arms the connection's timer for 40 ms; the second outlives that moment without failing.
    let slow = Act::Pause(Duration::from_millis(80));
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(OK), Act::ReadRequest, slow, write(OK)]]);
    let with = |ms| Request { timeout: Some(Duration::from_millis(ms)), ..get(peer.url("/")) };
    let exchanges = send_all(settings(), &[with(40), with(5000)]);
    assert_eq!(body(&exchanges[1]), b"ok");
    assert!(exchanges[1].connection.as_ref().unwrap().reused);
    peer.finish();
    // And the other way round: the timer of 5 s must not delay a deadline of 40 ms.
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(OK), Act::ReadRequest, Act::AwaitClose]]);
    let with = |ms| Request { timeout: Some(Duration::from_millis(ms)), ..get(peer.url("/")) };
    let exchanges = send_all(settings(), &[with(5000), with(40)]);
    assert_eq!(failure(&exchanges[1]), "request timeout");
    assert!(exchanges[1].timings.waiting < Duration::from_secs(3));
    peer.finish();
}

#[test]
fn a_response_that_never_pauses_does_not_escape_its_deadline() {
    let head = write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = [&b"10000\r\n"[..], &[b'z'; 0x10000], b"\r\n"].concat();
    let peer = Peer::play(vec![vec![Act::ReadRequest, head, Act::WriteForever(chunk)]]);
    let timeout = Some(Duration::from_millis(50));
    let exchange = send(&Request { timeout, body_use: BodyUse::Discard, ..get(peer.url("/")) });
    assert_eq!(failure(&exchange), "request timeout");
    peer.finish();
}

#[test]
fn an_early_refusal_ends_the_upload() {
    let reply = write("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    let peer = Peer::play(vec![vec![Act::ReadHead, reply, Act::AwaitClose]]);
    let exchange = send(&post(peer.url("/"), vec![b'x'; 50_000_000]));
    assert_eq!(body(&exchange), b"big");
    assert_eq!(exchange.outcome.as_ref().unwrap().status, 413);
    assert!(exchange.bytes_sent < 50_000_000, "the whole body was sent");
    assert!(peer.finish()[0].starts_with(b"POST / HTTP/1.1\r\n"));
}

#[test]
fn a_reply_that_comes_before_a_reset_is_still_read() {
    let reply = write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    let peer = Peer::play(vec![vec![Act::ReadHead, reply, Act::Pause(Duration::from_millis(20)), Act::Reset]]);
    let exchange = send(&post(peer.url("/"), vec![b'x'; 20_000_000]));
    assert_eq!(exchange.outcome.unwrap().status, 403);
    peer.finish();
}

#[test]
fn an_early_head_that_is_no_refusal_leaves_the_upload_running() {
    let head = write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    let peer = Peer::play(vec![vec![Act::ReadHead, head, Act::ReadBytes(8_000_000), write("done")]]);
    let exchange = send(&post(peer.url("/"), vec![b'x'; 8_000_000]));
    assert_eq!(body(&exchange), b"done");
    assert!(exchange.bytes_sent > 8_000_000);
    peer.finish();
}

#[test]
fn without_reuse_every_request_announces_its_end() {
    let one = vec![Act::ReadRequest, write(OK)];
    let peer = Peer::play(vec![one.clone(), one]);
    let settings = Settings { no_connection_reuse: true, ..settings() };
    let exchanges = send_all(settings, &[get(peer.url("/")), get(peer.url("/"))]);
    assert!(exchanges.iter().all(|e| body(e) == b"ok" && !e.connection.as_ref().unwrap().reused));
    assert!(peer.finish().iter().all(|r| r.ends_with(b"\r\nConnection: close\r\n\r\n")));
}

#[test]
fn headers_that_would_split_the_request_never_leave() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = onrush_wire::Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let headers: Rc<[(String, String)]> = Rc::new([(String::from("X"), String::from("a\r\nY: b"))]);
    let exchange = send(&Request { headers, ..get(url) });
    assert_eq!(exchange.outcome.as_ref().unwrap_err().step, Step::Prepare);
    assert_eq!(exchange.bytes_sent, 0);
}

#[test]
fn dropping_a_request_closes_its_connection() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, Act::AwaitClose]]);
    support::run(settings(), async |client| {
        let request = get(peer.url("/"));
        let given_up = tokio::time::timeout(Duration::from_millis(30), client.send(&request, None, &mut |_| {})).await;
        assert!(given_up.is_err());
    });
    // The peer ends only when it sees the close.
    peer.finish();
}
