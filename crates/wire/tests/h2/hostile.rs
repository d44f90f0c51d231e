//! One table: what a server says instead of a proper answer, and how the exchange ends. Never a hang, never a panic.
//!
//! Which error code a broken rule has, and whether it ends the stream or the connection, is what RFC 9113 and RFC 7541
//! say, and what k6 reports.

use std::time::{Duration, Instant};

use onrush_wire::{FailureKind, Response};

use crate::peer::*;
use crate::support::tls::{trusting, url};
use crate::support::{get, send_all};

/// What the exchange comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// With this status.
    Status(u16),
    /// With this failure.
    In(FailureKind),
}

use Ends::{In, Status};

/// The numbers of error codes among k6's: one more than the RFC's.
const PROTOCOL: u8 = 2;
const FLOW_CONTROL: u8 = 4;
const FRAME_SIZE: u8 = 7;
const COMPRESSION: u8 = 10;
const CALM: u8 = 12;

const BROKEN: Ends = In(FailureKind::Http2Connection(PROTOCOL));
const SIZE: Ends = In(FailureKind::Http2Connection(FRAME_SIZE));
const GARBLED: Ends = In(FailureKind::Http2Connection(COMPRESSION));
const STREAM: Ends = In(FailureKind::Http2Stream(PROTOCOL));
const GONE: Ends = In(FailureKind::Other);
const SILENT: Ends = In(FailureKind::Timeout);

fn head(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

fn open_head(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, block)
}

/// 200, and this field.
fn with(name: &str, value: &str) -> Vec<u8> {
    [STATUS_200, &field(name.as_bytes(), value.as_bytes())].concat()
}

fn ok() -> Vec<u8> {
    head(STATUS_200)
}

/// These bytes, then a proper answer.
fn then_ok(bytes: Vec<u8>) -> Vec<u8> {
    [bytes, ok()].concat()
}

fn data(flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(DATA, flags, 1, payload)
}

fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

fn reset(code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, 1, &code.to_be_bytes())
}

fn update(stream: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes())
}

fn settings(id: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &setting(id, value))
}

type Row = (&'static str, Vec<u8>, Ends);

fn sizes() -> Vec<Row> {
    vec![
        ("a head beyond the largest frame", frame(HEADERS, 4, 1, &[0x88; 16_385]), SIZE),
        ("data beyond the largest frame", [open_head(STATUS_200), data(0, &[0; 16_385])].concat(), SIZE),
        ("a frame of 16 MiB that never comes", b"\xff\xff\xff\x00\x00\x00\x00\x00\x01xxxx".to_vec(), SIZE),
        ("PING of 7 bytes", frame(PING, 0, 0, &[0; 7]), SIZE),
        ("PING of 9 bytes", frame(PING, 0, 0, &[0; 9]), SIZE),
        ("SETTINGS of 5 bytes", frame(SETTINGS, 0, 0, &[0; 5]), SIZE),
        ("SETTINGS acknowledged with content", frame(SETTINGS, ACK, 0, &[0; 6]), SIZE),
        ("WINDOW_UPDATE of 3 bytes", frame(WINDOW_UPDATE, 0, 0, &[0; 3]), SIZE),
        ("WINDOW_UPDATE of 5 bytes", frame(WINDOW_UPDATE, 0, 1, &[0; 5]), SIZE),
        ("RST_STREAM of 3 bytes", frame(RST_STREAM, 0, 1, &[0; 3]), SIZE),
        ("RST_STREAM of 5 bytes", frame(RST_STREAM, 0, 1, &[0; 5]), SIZE),
        ("GOAWAY of 7 bytes", frame(GOAWAY, 0, 0, &[0; 7]), SIZE),
        ("PRIORITY of 4 bytes", frame(PRIORITY, 0, 1, &[0; 4]), SIZE),
        ("PRIORITY of 6 bytes", frame(PRIORITY, 0, 1, &[0; 6]), SIZE),
        ("an empty head", frame(HEADERS, 5, 1, b""), STREAM),
        ("a head with priority of 4 bytes", frame(HEADERS, 5 | WITH_PRIORITY, 1, &[0; 4]), SIZE),
        ("PUSH_PROMISE of 3 bytes", frame(PUSH_PROMISE, 4, 1, &[0; 3]), BROKEN),
    ]
}

fn streams() -> Vec<Row> {
    vec![
        ("data on stream 0", frame(DATA, 0, 0, b"x"), BROKEN),
        ("a head on stream 0", frame(HEADERS, 5, 0, STATUS_200), BROKEN),
        ("RST_STREAM on stream 0", frame(RST_STREAM, 0, 0, &[0; 4]), BROKEN),
        ("PRIORITY on stream 0", frame(PRIORITY, 0, 0, &[0, 0, 0, 1, 0]), BROKEN),
        ("CONTINUATION on stream 0", frame(CONTINUATION, 4, 0, STATUS_200), BROKEN),
        ("SETTINGS on a stream", frame(SETTINGS, 0, 1, &[]), BROKEN),
        ("PING on a stream", frame(PING, 0, 1, &[0; 8]), BROKEN),
        ("GOAWAY on a stream", frame(GOAWAY, 0, 1, &[0; 8]), BROKEN),
        ("data on a stream that nobody opened", frame(DATA, 0, 3, b"x"), BROKEN),
        ("a head on a stream that nobody opened", frame(HEADERS, 5, 3, STATUS_200), BROKEN),
        ("RST_STREAM on a stream that nobody opened", frame(RST_STREAM, 0, 3, &[0; 4]), BROKEN),
        ("WINDOW_UPDATE on a stream that nobody opened", update(3, 1), BROKEN),
        ("a head on a stream of the server's", frame(HEADERS, 5, 2, STATUS_200), BROKEN),
        ("data on a stream of the server's", frame(DATA, 0, 2, b"x"), BROKEN),
        ("a pushed answer", frame(PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x82]), BROKEN),
        ("PRIORITY of a stream on itself", then_ok(frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 0])), STREAM),
        ("PRIORITY on a stream that nobody opened", then_ok(frame(PRIORITY, 0, 7, &[0, 0, 0, 1, 0])), Status(200)),
    ]
}

fn padding() -> Vec<Row> {
    let padded = |payload: &[u8]| [open_head(STATUS_200), frame(DATA, PADDED | END_STREAM, 1, payload)].concat();
    vec![
        ("data with padding", padded(&[2, b'a', 0, 0]), Status(200)),
        ("data of padding alone", padded(&[3, 0, 0, 0]), Status(200)),
        ("data with more padding than content", padded(&[9, b'a']), BROKEN),
        ("padded data without a length", padded(&[]), BROKEN),
        ("a head with padding", frame(HEADERS, 5 | PADDED, 1, &[1, 0x88, 0]), Status(200)),
        ("a head with more padding than content", frame(HEADERS, 5 | PADDED, 1, &[9, 0x88]), BROKEN),
        ("a padded head without a length", frame(HEADERS, 5 | PADDED, 1, &[]), BROKEN),
    ]
}

fn settings_rows() -> Vec<Row> {
    vec![
        ("ENABLE_PUSH of 2", settings(2, 2), BROKEN),
        ("ENABLE_PUSH of a server", then_ok(settings(2, 1)), Status(200)),
        ("an initial window of 2^31", settings(4, 1 << 31), In(FailureKind::Http2Connection(FLOW_CONTROL))),
        ("largest frames of 16,383 bytes", settings(5, 16_383), BROKEN),
        ("largest frames of 2^24 bytes", settings(5, 1 << 24), BROKEN),
        ("an unknown setting", then_ok(settings(0xfa, 7)), Status(200)),
        ("a header table of 4 GiB", then_ok(settings(1, u32::MAX)), Status(200)),
        ("no header table", then_ok(settings(1, 0)), Status(200)),
        ("no streams, while one is open", then_ok(settings(3, 0)), Status(200)),
        ("no window, while a stream is open", then_ok(settings(4, 0)), Status(200)),
        ("SETTINGS acknowledged that were never sent", then_ok(frame(SETTINGS, ACK, 0, &[]).repeat(3)), BROKEN),
        ("a window of nothing more", update(0, 0), BROKEN),
        ("a stream's window of nothing more", update(1, 0), STREAM),
        ("a window beyond 2^31", update(0, i32::MAX as u32).repeat(2), In(FailureKind::Http2Connection(FLOW_CONTROL))),
        ("a window beyond 2^31 of a request that was sent", then_ok(update(1, i32::MAX as u32).repeat(2)), Status(200)),
    ]
}

fn continuations() -> Vec<Row> {
    let begun = || frame(HEADERS, END_STREAM, 1, STATUS_200);
    let behind = |bytes: Vec<u8>| [begun(), bytes].concat();
    vec![
        ("CONTINUATION of nothing", frame(CONTINUATION, 4, 1, STATUS_200), BROKEN),
        ("CONTINUATION behind a whole head", [open_head(STATUS_200), frame(CONTINUATION, 4, 1, b"")].concat(), BROKEN),
        ("a head interrupted by data", behind(data(0, b"x")), BROKEN),
        ("a head interrupted by PING", behind(frame(PING, 0, 0, &[0; 8])), BROKEN),
        ("a head interrupted by a head", behind(frame(HEADERS, 5, 3, STATUS_200)), BROKEN),
        ("a head interrupted by an unknown frame", behind(frame(0xfa, 0, 1, b"x")), BROKEN),
        ("CONTINUATION of another stream", behind(frame(CONTINUATION, 4, 3, b"")), BROKEN),
        (
            "a head in three parts",
            behind([frame(CONTINUATION, 0, 1, b""), frame(CONTINUATION, 4, 1, b"")].concat()),
            Status(200),
        ),
        ("a head that never ends", begun(), SILENT),
        (
            "CONTINUATION without end or content",
            behind(frame(CONTINUATION, 0, 1, b"").repeat(100_000)),
            In(FailureKind::Http2Connection(CALM)),
        ),
        (
            "CONTINUATION without end",
            behind(frame(CONTINUATION, 0, 1, &field(b"x", &[b'a'; 100]).repeat(150)).repeat(1500)),
            In(FailureKind::Http2Connection(CALM)),
        ),
    ]
}

fn hpack() -> Vec<Row> {
    let rest = |bytes: &[u8]| head(&[STATUS_200, bytes].concat());
    vec![
        ("index 0", rest(&[0x80]), GARBLED),
        ("an index beyond the tables", rest(&[0xff, 0x20]), GARBLED),
        ("an integer that overflows", rest(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), GARBLED),
        ("an integer that breaks off", rest(&[0xff]), GARBLED),
        ("a name that breaks off", rest(&[0, 9, b'x']), GARBLED),
        ("a value that breaks off", rest(&[0, 1, b'x', 9, b'y']), GARBLED),
        ("a value without a length", rest(&[0, 1, b'x']), GARBLED),
        ("Huffman's end of string", rest(&[0, 1, b'x', 0x84, 0xff, 0xff, 0xff, 0xff]), GARBLED),
        ("Huffman padding of a byte", rest(&[0, 1, b'x', 0x82, 0x07, 0xff]), GARBLED),
        ("Huffman padding of zeros", rest(&[0, 1, b'x', 0x81, 0x00]), GARBLED),
        ("a table larger than allowed", head(&[&[0x3f, 0xe2, 0x1f], STATUS_200].concat()), GARBLED),
        ("a table of nothing", head(&[&[0x20], STATUS_200].concat()), Status(200)),
        ("a table size behind a field", rest(&[0x20]), GARBLED),
        ("a field without a name", rest(&field(b"", b"x")), STREAM),
        ("a field that is never indexed", rest(&[0x10, 1, b'x', 1, b'y']), Status(200)),
    ]
}

fn heads() -> Vec<Row> {
    let block = |fields: &[(&str, &str)]| {
        head(&fields.iter().flat_map(|(n, v)| field(n.as_bytes(), v.as_bytes())).collect::<Vec<_>>())
    };
    vec![
        ("no status", block(&[("x", "y")]), STREAM),
        ("two statuses", block(&[(":status", "200"), (":status", "201")]), STREAM),
        ("a status of letters", block(&[(":status", "abc")]), STREAM),
        ("a status of two digits", block(&[(":status", "20")]), STREAM),
        ("a status of four digits", block(&[(":status", "1000")]), STREAM),
        ("no text for a status", block(&[(":status", "")]), STREAM),
        ("a status that nobody knows", block(&[(":status", "299")]), Status(299)),
        ("a path in a response", block(&[(":status", "200"), (":path", "/")]), STREAM),
        ("an unknown pseudo field", block(&[(":status", "200"), (":x", "y")]), STREAM),
        ("a status behind a field", block(&[("x", "y"), (":status", "200")]), STREAM),
        ("a name in upper case", head(&with("X", "y")), STREAM),
        ("a name with a space", head(&with("a b", "y")), STREAM),
        ("a name with a line break", head(&with("a\r\nb", "y")), STREAM),
        ("a value with a line break", head(&with("x", "a\r\nb")), STREAM),
        ("a value with NUL", head(&with("x", "a\0b")), STREAM),
        ("Connection", head(&with("connection", "close")), STREAM),
        ("Keep-Alive", head(&with("keep-alive", "1")), STREAM),
        ("Proxy-Connection", head(&with("proxy-connection", "close")), STREAM),
        ("Transfer-Encoding", head(&with("transfer-encoding", "chunked")), STREAM),
        ("Upgrade", head(&with("upgrade", "h3")), STREAM),
        ("a status 101", head(&field(b":status", b"101")), STREAM),
        ("100 that ends the stream", head(&field(b":status", b"100")), STREAM),
        ("100 and nothing", open_head(&field(b":status", b"100")), SILENT),
        ("100, then 200", then_ok(open_head(&field(b":status", b"100"))), Status(200)),
        ("103, then 200", then_ok(open_head(&field(b":status", b"103"))), Status(200)),
        ("204 with a body", [open_head(&[0x89]), data(END_STREAM, b"x")].concat(), Status(204)),
    ]
}

fn bodies() -> Vec<Row> {
    let declared = |length: &str, body: &[u8]| [open_head(&with("content-length", length)), data(1, body)].concat();
    let trailers = |flags: u8, block: &[u8]| [open_head(STATUS_200), frame(HEADERS, flags, 1, block)].concat();
    vec![
        ("less than was declared", declared("5", b"abc"), STREAM),
        ("more than was declared", declared("2", b"abc"), STREAM),
        ("nothing where something was declared", head(&with("content-length", "5")), STREAM),
        ("a length of letters", declared("abc", b"abc"), STREAM),
        ("a negative length", declared("-3", b"abc"), STREAM),
        ("a length beyond all numbers", declared("99999999999999999999", b"abc"), STREAM),
        ("a body that never ends", [open_head(STATUS_200), data(0, b"x")].concat(), SILENT),
        ("data before the head", data(0, b"x"), STREAM),
        ("data behind the end", then_ok(Vec::new()).into_iter().chain(data(0, b"x")).collect(), Status(200)),
        ("a head behind the end", [ok(), ok()].concat(), Status(200)),
        (
            "empty data without end",
            [open_head(STATUS_200), data(0, b"").repeat(200_000)].concat(),
            In(FailureKind::Http2Connection(CALM)),
        ),
        ("trailers", trailers(5, &field(b"x", b"y")), Status(200)),
        ("trailers that do not end", trailers(4, &field(b"x", b"y")), STREAM),
        ("trailers with a status", trailers(5, STATUS_200), STREAM),
        ("unknown frames", then_ok(frame(0xfa, 0xff, 1, b"x").repeat(1000)), Status(200)),
        ("10,000 PINGs", then_ok(frame(PING, 0, 0, &[0; 8]).repeat(10_000)), Status(200)),
        ("PING answered that was never sent", then_ok(frame(PING, ACK, 0, &[7; 8])), Status(200)),
        ("10,000 SETTINGS", then_ok(settings(3, 100).repeat(10_000)), Status(200)),
        ("10,000 times 100 Continue", then_ok(open_head(&field(b":status", b"100")).repeat(10_000)), Status(200)),
    ]
}

fn ends() -> Vec<Row> {
    let mut rows = vec![
        ("an unknown error code", reset(14), In(FailureKind::Http2Stream(0))),
        ("the largest error code", reset(u32::MAX), In(FailureKind::Http2Stream(0))),
        ("RST_STREAM behind a head", [open_head(STATUS_200), reset(2)].concat(), In(FailureKind::Http2Stream(3))),
        ("RST_STREAM behind the end", [ok(), reset(2)].concat(), Status(200)),
        (
            "NO_ERROR behind all that was declared",
            [open_head(&with("content-length", "1")), data(0, b"x"), reset(0)].concat(),
            Status(200),
        ),
        (
            "NO_ERROR in the middle",
            [open_head(&with("content-length", "2")), data(0, b"x"), reset(0)].concat(),
            In(FailureKind::Http2Stream(1)),
        ),
        ("GOAWAY, then the answer", then_ok(goaway(1, 0)), Status(200)),
        ("GOAWAY for other streams", goaway(0, 2), GONE),
        ("two GOAWAYs, the second beyond the first", then_ok([goaway(1, 0), goaway(3, 0)].concat()), BROKEN),
        ("an answer of HTTP/1.1", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), SIZE),
        ("a banner", b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), SIZE),
        ("zeros", vec![0; 100_000], BROKEN),
    ];
    // All but REFUSED_STREAM, after which the request is tried again.
    let codes = (0..14u8).filter(|code| *code != 7);
    rows.extend(codes.map(|code| ("RST_STREAM", reset(code.into()), In(FailureKind::Http2Stream(code + 1)))));
    rows
}

fn rows() -> Vec<Row> {
    [sizes(), streams(), padding(), settings_rows(), continuations(), hpack(), heads(), bodies(), ends()].concat()
}

/// What a GET comes to, at a server that answers so, and how long that took.
fn outcome(answer: Vec<u8>) -> (Ends, String, Duration) {
    let (address, server) = serve(1, move |tls, _| {
        read_preface(tls);
        write(tls, &frame(SETTINGS, 0, 0, &[]));
        if read_request(tls).is_some() {
            write(tls, &answer);
            await_close(tls);
        }
    });
    let started = Instant::now();
    let mut request = get(url(address));
    request.timeout = Some(Duration::from_secs(3));
    let exchange = send_all(trusting(), &[request]).remove(0);
    let took = started.elapsed();
    server.join().unwrap();
    match exchange.outcome {
        Ok(Response { status, .. }) => (Status(status), String::new(), took),
        Err(failure) => (In(failure.kind), failure.message, took),
    }
}

#[test]
fn each_hostile_answer_has_its_error() {
    let all = rows();
    assert!(all.len() >= 100, "{} rows", all.len());
    let mut wrong = Vec::new();
    for (what, answer, expected) in all {
        let (ended, message, took) = outcome(answer);
        if ended != expected || took > Duration::from_secs(10) {
            wrong.push(format!("{what}: {ended:?} ({message}) after {took:?}, expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn connections_that_end_early_are_failures() {
    let whole = [open_head(&with("content-length", "4")), data(END_STREAM, b"abcd")].concat();
    for cut in 0..whole.len() {
        let part = whole[..cut].to_vec();
        let (address, server) = serve(1, move |tls, _| {
            read_preface(tls);
            write(tls, &frame(SETTINGS, 0, 0, &[]));
            read_request(tls);
            write(tls, &part);
        });
        let exchange = send_all(trusting(), &[get(url(address))]).remove(0);
        server.join().unwrap();
        let failure = exchange.outcome.expect_err("it was cut off");
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Other, "unexpected EOF"), "at {cut}");
    }
}

#[test]
fn texts_are_those_of_k6() {
    for (answer, text) in [
        (reset(1), "http2: stream error with http2 ErrCode PROTOCOL_ERROR"),
        (reset(14), "http2: stream error with http2 ErrCode unknown error code 0xe"),
        (update(0, 0), "http2: connection error with http2 ErrCode PROTOCOL_ERROR"),
        (goaway(0, 1), "http2: Transport received GOAWAY from server ErrCode:PROTOCOL_ERROR"),
    ] {
        assert_eq!(outcome(answer).1, text);
    }
}
