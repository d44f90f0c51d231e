//! Exchanges on streams: one connection for a user, timings, what is tried again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use onrush_wire::request::{BodySink, BodyUse};
use onrush_wire::{Body, Exchange, Request, Response, Settings};

use crate::peer::*;
use crate::support::tls::{trusting, url};
use crate::support::{body, get, run, send_all};

fn answer(tls: &mut Tls, stream: u32, text: &[u8]) {
    write(tls, &[frame(HEADERS, END_HEADERS, stream, STATUS_200), frame(DATA, END_STREAM, stream, text)].concat());
}

fn begin(tls: &mut Tls) {
    read_preface(tls);
    write(tls, &frame(SETTINGS, 0, 0, &[]));
}

fn response(exchange: &Exchange) -> &Response {
    exchange.outcome.as_ref().unwrap()
}

#[test]
fn requests_of_one_user_share_a_connection() {
    let (address, server) = serve(1, |tls, _| {
        begin(tls);
        let stream = read_request(tls).unwrap();
        answer(tls, stream, b"first");
        // All three are there before the first is answered, the last first.
        let streams: Vec<u32> = (0..3).map(|_| read_request(tls).unwrap()).collect();
        streams.iter().rev().for_each(|stream| answer(tls, *stream, stream.to_string().as_bytes()));
        await_close(tls);
    });
    run(trusting(), async |client| {
        let send = async || {
            let exchange = client.send(&get(url(address)), None, &mut |_| {}).await;
            (body(&exchange), exchange.timings.connecting)
        };
        send().await;
        let (a, b, c) = tokio::join!(send(), send(), send());
        assert_eq!([a, b, c].map(|(body, _)| body), [&b"3"[..], b"5", b"7"]);
    });
    server.join().unwrap();
}

#[test]
fn a_connection_that_ended_while_it_allowed_no_stream_is_closed() {
    const MAX_CONCURRENT_STREAMS: u8 = 3;
    // One after the other: the second is served when the client has closed the first.
    let (address, server) = serve(2, |tls, _| {
        begin(tls);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_200));
        write(tls, &frame(SETTINGS, 0, 0, &[0, MAX_CONCURRENT_STREAMS, 0, 0, 0, 0]));
        write(tls, &frame(GOAWAY, 0, 0, &[0; 8]));
        await_close(tls);
    });
    for exchange in send_all(trusting(), &[get(url(address)), get(url(address))]) {
        assert_eq!(response(&exchange).status, 200);
    }
    server.join().unwrap();
}

#[test]
fn an_exchange_says_how_long_each_step_took() {
    let (address, server) = serve(1, |tls, _| {
        begin(tls);
        for _ in 0..2 {
            let stream = read_request(tls).unwrap();
            std::thread::sleep(Duration::from_millis(60));
            write(tls, &frame(HEADERS, END_HEADERS, stream, &[STATUS_200, &field(b"x-a", b"b")].concat()));
            std::thread::sleep(Duration::from_millis(40));
            write(tls, &frame(DATA, END_STREAM, stream, b"hello"));
        }
        await_close(tls);
    });
    let exchanges = send_all(trusting(), &[get(url(address)), get(url(address))]);
    server.join().unwrap();
    for (exchange, reused) in exchanges.iter().zip([false, true]) {
        assert_eq!(body(exchange), b"hello");
        assert_eq!((response(exchange).proto, response(exchange).reason()), ("HTTP/2.0", "OK"));
        assert_eq!(response(exchange).header("X-A"), Some(&b"b"[..]));
        let timings = exchange.timings;
        // On a busy machine the client may notice late that it has sent, and has waited less for that.
        let answered = timings.sending + timings.waiting;
        assert!(answered >= Duration::from_millis(55) && timings.receiving >= Duration::from_millis(35), "{timings:?}");
        let connection = exchange.connection.as_ref().unwrap();
        assert!(connection.reused == reused && connection.kernel_stamps, "{connection:?}");
        assert_eq!((timings.connecting.is_zero(), timings.tls_handshaking.is_zero()), (reused, reused));
    }
}

#[test]
fn without_http2_the_server_is_not_offered_it() {
    let (address, server) = serve(1, |tls, _| {
        // The server speaks HTTP/2 alone: the handshake fails.
        write(tls, b"");
    });
    let exchange = send_all(Settings { http2: false, ..trusting() }, &[get(url(address))]).remove(0);
    assert_eq!(exchange.outcome.unwrap_err().message, "remote error: tls: no application protocol");
    server.join().unwrap();
}

#[test]
fn what_the_server_did_not_process_is_tried_again() {
    let tries = Arc::new(AtomicUsize::new(0));
    let seen = tries.clone();
    let (address, server) = serve(2, move |tls, at| {
        begin(tls);
        while let Some(stream) = read_request(tls) {
            match (at, seen.fetch_add(1, Ordering::Relaxed)) {
                (0, 0) => write(tls, &frame(RST_STREAM, 0, stream, &[0, 0, 0, 7])),
                (0, _) => {
                    // On the same connection, which now takes no more.
                    assert_eq!(stream, 3);
                    write(tls, &frame(GOAWAY, 0, 0, &[0; 8]));
                    return;
                }
                _ => answer(tls, stream, b"third"),
            }
        }
    });
    let exchange = send_all(trusting(), &[get(url(address))]).remove(0);
    assert_eq!(body(&exchange), b"third");
    server.join().unwrap();
    assert_eq!(tries.load(Ordering::Relaxed), 3);
}

#[test]
fn a_goaway_while_idle_costs_nobody_a_request() {
    let (address, server) = serve(2, |tls, _| {
        begin(tls);
        let stream = read_request(tls).unwrap();
        answer(tls, stream, b"ok");
        write(tls, &frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
    });
    run(trusting(), async |client| {
        for _ in 0..2 {
            let exchange = client.send(&get(url(address)), None, &mut |_| {}).await;
            assert_eq!(body(&exchange), b"ok");
            assert!(!exchange.connection.as_ref().unwrap().reused);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    server.join().unwrap();
}

/// Servers close connections that do not answer.
#[test]
fn a_ping_while_idle_is_answered() {
    let (address, server) = serve(1, |tls, _| {
        begin(tls);
        let stream = read_request(tls).unwrap();
        answer(tls, stream, b"ok");
        write(tls, &frame(PING, 0, 0, b"are you?"));
        let pong = std::iter::from_fn(|| read_frame(tls)).find(|frame| frame.0 == PING).unwrap();
        assert_eq!((pong.1, pong.3.as_slice()), (ACK, &b"are you?"[..]));
        let stream = read_request(tls).unwrap();
        answer(tls, stream, b"yes");
        await_close(tls);
    });
    let answered = run(trusting(), async |client| {
        let send = async || body(&*client.send(&get(url(address)), None, &mut |_| {}).await);
        assert_eq!(send().await, b"ok");
        tokio::time::sleep(Duration::from_millis(2500)).await;
        send().await
    });
    server.join().unwrap();
    assert_eq!(answered, b"yes");
}

#[test]
fn a_request_that_is_given_up_resets_its_stream_and_no_other() {
    let (address, server) = serve(1, |tls, _| {
        begin(tls);
        let first = read_request(tls).unwrap();
        answer(tls, first, b"first");
        let given_up = read_request(tls).unwrap();
        let (kind, _, stream, code) = std::iter::from_fn(|| read_frame(tls)).find(|f| f.0 == RST_STREAM).unwrap();
        assert_eq!((kind, stream, code), (RST_STREAM, given_up, vec![0, 0, 0, 8]));
        let last = read_request(tls).unwrap();
        answer(tls, last, b"last");
        await_close(tls);
    });
    run(trusting(), async |client| {
        let send = async || body(&*client.send(&get(url(address)), None, &mut |_| {}).await);
        assert_eq!(send().await, b"first");
        tokio::time::timeout(Duration::from_millis(50), send()).await.expect_err("nobody answers");
        assert_eq!(send().await, b"last");
    });
    server.join().unwrap();
}

/// Takes three bytes, each at its time.
#[derive(Default)]
struct Three {
    status: Cell<u16>,
    bytes: RefCell<Vec<u8>>,
    times: RefCell<Vec<Instant>>,
}

impl BodySink for Three {
    fn begin(&self, answer: &Response) -> bool {
        self.status.set(answer.status);
        true
    }

    fn take(&self, bytes: &[u8]) {
        self.bytes.borrow_mut().extend_from_slice(bytes);
    }

    fn arrived(&self, at: Instant) {
        self.times.borrow_mut().push(at);
    }

    fn has_enough(&self) -> bool {
        self.bytes.borrow().len() >= 3
    }

    fn poll_ready(&self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_sink_takes_what_arrives_and_ends_the_stream_alone() {
    let (address, server) = serve(1, |tls, _| {
        begin(tls);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
        for byte in [b"a", b"b", b"c"] {
            std::thread::sleep(Duration::from_millis(30));
            write(tls, &frame(DATA, 0, stream, byte));
        }
        let reset = std::iter::from_fn(|| read_frame(tls)).find(|frame| frame.0 == RST_STREAM).unwrap();
        assert_eq!((reset.2, reset.3), (stream, vec![0, 0, 0, 8]));
        let stream = read_request(tls).unwrap();
        answer(tls, stream, b"next");
        await_close(tls);
    });
    let sink = Rc::new(Three::default());
    let streamed = Request { body_use: BodyUse::Stream(sink.clone()), ..get(url(address)) };
    let exchanges = send_all(trusting(), &[streamed, get(url(address))]);
    server.join().unwrap();
    assert!(matches!(response(&exchanges[0]).body, Body::Discarded(3)));
    assert_eq!((sink.status.get(), sink.bytes.borrow().as_slice()), (200, &b"abc"[..]));
    let times = sink.times.borrow();
    assert!(times.len() == 3 && times[2] - times[0] >= Duration::from_millis(55), "{times:?}");
    assert_eq!(body(&exchanges[1]), b"next");
}

#[test]
fn idle_connections_are_closed_when_that_is_asked_for() {
    // One after the other: the second is served when the client has closed the first.
    let (address, server) = serve(2, |tls, at| {
        begin(tls);
        let stream = read_request(tls).unwrap();
        answer(tls, stream, at.to_string().as_bytes());
        await_close(tls);
    });
    run(trusting(), async |client| {
        for expected in [&b"0"[..], b"1"] {
            let exchange = client.send(&get(url(address)), None, &mut |_| {}).await;
            assert_eq!((body(&exchange), exchange.connection.as_ref().unwrap().reused), (expected.to_vec(), false));
            client.close_idle();
        }
    });
    server.join().unwrap();
}
