//! Calls: streams on a connection that its user holds, which send while they receive.

use std::future::poll_fn;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use onrush_wire::client::{CallEvent, CallHead, Http2Call, Http2Connection, Http2Dial};
use onrush_wire::{Client, Settings, Step, Url};
use rustls::{ServerConnection, StreamOwned};

use crate::peer::*;
use crate::support::run;
use crate::support::tls::{key_for, server_config, trusting, url};

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;

fn begin(tls: &mut Tls, settings: &[u8]) {
    read_preface(tls);
    write(tls, &frame(SETTINGS, 0, 0, settings));
}

/// The whole answer to a call: head, content and trailers.
fn whole_answer(stream: u32, text: &[u8]) -> Vec<u8> {
    let trailers = field(b"grpc-status", b"0");
    [
        frame(HEADERS, END_HEADERS, stream, STATUS_200),
        frame(DATA, 0, stream, text),
        frame(HEADERS, END_HEADERS | END_STREAM, stream, &trailers),
    ]
    .concat()
}

/// Reads until a frame of this kind; its flags and payload.
fn read_kind(tls: &mut Tls, wanted: u8) -> (u8, Vec<u8>) {
    loop {
        let (kind, flags, _, payload) = read_frame(tls).unwrap();
        if kind == wanted {
            return (flags, payload);
        }
    }
}

async fn connect(client: &Client, url: &Url) -> Http2Connection {
    let dial = Http2Dial { url, tls: None, server_name: None, timeout: Duration::from_secs(10) };
    client.connect_http2(&dial).await.unwrap()
}

fn open(connection: &Http2Connection, url: &Url) -> Http2Call {
    connection.open(&CallHead::new(url, None, "/a.B/C", &[]).unwrap(), None)
}

async fn next(call: &mut Http2Call) -> String {
    match poll_fn(|cx| call.poll(cx)).await {
        CallEvent::Head { status, fields, end } => format!("head {status} {} {end}", fields.iter().count()),
        CallEvent::Data(bytes) => format!("data {}", String::from_utf8_lossy(&bytes)),
        CallEvent::Trailers(fields) => {
            format!("trailers {}", String::from_utf8_lossy(fields.get("grpc-status").unwrap()))
        }
        CallEvent::End => String::from("end"),
        CallEvent::Reset(code) => format!("reset {code}"),
        CallEvent::TimedOut => String::from("timed out"),
        CallEvent::Failed(failure) => format!("failed {:?}: {}", failure.step, failure.message),
    }
}

/// What comes until the end.
async fn all(call: &mut Http2Call) -> Vec<String> {
    let mut events = Vec::new();
    loop {
        let event = next(call).await;
        let is_last = ["end", "reset", "timed", "failed"].iter().any(|word| event.starts_with(word));
        events.push(event);
        if is_last {
            return events;
        }
    }
}

/// Runs a client against a server that plays this part on its one connection.
fn with_server<T>(
    mut play: impl FnMut(&mut Tls) + Send + 'static,
    work: impl AsyncFnOnce(Http2Connection, Url) -> T,
) -> T {
    let (address, server) = serve(1, move |tls, _| play(tls));
    let result = run(trusting(), async |client| {
        let url = url(address);
        let connection = connect(&client, &url).await;
        work(connection, url).await
    });
    server.join().unwrap();
    result
}

#[test]
fn an_answer_has_a_head_content_and_trailers_or_a_head_alone() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let stream = read_request(tls).unwrap();
        write(tls, &whole_answer(stream, b"text"));
        let stream = read_request(tls).unwrap();
        let head = [STATUS_200, &field(b"grpc-status", b"5")].concat();
        write(tls, &frame(HEADERS, END_HEADERS | END_STREAM, stream, &head));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let mut call = open(&connection, &url);
        call.send(Bytes::from_static(b"x"), true);
        assert_eq!(all(&mut call).await, ["head 200 0 false", "data text", "trailers 0", "end"]);
        let mut call = open(&connection, &url);
        call.send(Bytes::new(), true);
        assert_eq!(all(&mut call).await, ["head 200 1 true", "end"]);
    });
}

#[test]
fn a_call_sends_while_it_receives() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
        loop {
            let (flags, payload) = read_kind(tls, DATA);
            if flags & END_STREAM > 0 {
                break;
            }
            write(tls, &frame(DATA, 0, stream, &payload));
        }
        write(tls, &frame(DATA, END_STREAM, stream, &[]));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let mut call = open(&connection, &url);
        assert_eq!(next(&mut call).await, "head 200 0 false");
        for text in ["one", "two", "three"] {
            call.send(Bytes::from_static(text.as_bytes()), false);
            assert_eq!(next(&mut call).await, format!("data {text}"));
        }
        call.send(Bytes::new(), true);
        assert_eq!(all(&mut call).await, ["end"]);
    });
}

#[test]
fn no_more_is_sent_than_the_window_allows() {
    let play = |tls: &mut Tls| {
        begin(tls, &setting(INITIAL_WINDOW_SIZE, 10));
        let stream = read_request(tls).unwrap();
        for _ in 0..2 {
            assert_eq!(read_kind(tls, DATA), (0, vec![b'x'; 10]));
            write(tls, &frame(WINDOW_UPDATE, 0, stream, &10_u32.to_be_bytes()));
        }
        assert_eq!(read_kind(tls, DATA), (END_STREAM, vec![b'x'; 5]));
        write(tls, &whole_answer(stream, b""));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let mut call = open(&connection, &url);
        call.send(vec![b'x'; 25].into(), true);
        assert_eq!(call.unsent(), 25);
        assert_eq!(all(&mut call).await, ["head 200 0 false", "trailers 0", "end"]);
        assert_eq!(call.unsent(), 0);
    });
}

#[test]
fn a_call_above_the_limit_of_streams_waits_for_its_turn() {
    let play = |tls: &mut Tls| {
        begin(tls, &setting(MAX_CONCURRENT_STREAMS, 1));
        for text in [b"1", b"2", b"3"] {
            let stream = read_request(tls).unwrap();
            write(tls, &whole_answer(stream, text));
        }
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let ask = async || {
            let mut call = open(&connection, &url);
            call.send(Bytes::new(), true);
            all(&mut call).await.swap_remove(1)
        };
        let (a, b, c) = tokio::join!(ask(), ask(), ask());
        assert_eq!([a, b, c], ["data 1", "data 2", "data 3"]);
    });
}

#[test]
fn a_reset_is_told_with_its_code_and_a_dropped_call_is_canceled() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(RST_STREAM, 0, stream, &7_u32.to_be_bytes()));
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
        assert_eq!(read_kind(tls, RST_STREAM).1, 8_u32.to_be_bytes());
        let stream = read_request(tls).unwrap();
        write(tls, &whole_answer(stream, b"after"));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        assert_eq!(all(&mut open(&connection, &url)).await, ["reset 7"]);
        let mut dropped = open(&connection, &url);
        assert_eq!(next(&mut dropped).await, "head 200 0 false");
        drop(dropped);
        assert_eq!(all(&mut open(&connection, &url)).await[1], "data after");
    });
}

#[test]
fn a_call_that_is_reset_or_out_of_time_tells_the_server_why() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
        assert_eq!(read_kind(tls, RST_STREAM).1, 5_u32.to_be_bytes());
        read_request(tls).unwrap();
        assert_eq!(read_kind(tls, RST_STREAM).1, 8_u32.to_be_bytes());
        let stream = read_request(tls).unwrap();
        write(tls, &whole_answer(stream, b"after"));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let mut reset = open(&connection, &url);
        assert_eq!(next(&mut reset).await, "head 200 0 false");
        reset.reset(5);
        drop(reset);
        let head = CallHead::new(&url, None, "/a.B/C", &[]).unwrap();
        let mut late = connection.open(&head, Some(Duration::from_millis(50)));
        late.send(Bytes::new(), true);
        assert_eq!(all(&mut late).await, ["timed out"]);
        drop(late);
        // Nobody polls the connection meanwhile.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let after = all(&mut open(&connection, &url)).await;
        assert_eq!(after, ["head 200 0 false", "data after", "trailers 0", "end"]);
    });
}

#[test]
fn a_call_that_the_server_excludes_fails_and_the_connection_is_not_used_again() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        read_request(tls).unwrap();
        write(tls, &frame(GOAWAY, 0, 0, &[0; 8]));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        assert!(connection.is_usable());
        let events = all(&mut open(&connection, &url)).await;
        assert_eq!(events, ["failed Wait: http2: Transport received GOAWAY from server ErrCode:NO_ERROR"]);
        assert!(!connection.is_usable());
    });
}

#[test]
fn a_connection_that_is_lost_fails_its_calls() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
    };
    with_server(play, async |connection, url| {
        let events = all(&mut open(&connection, &url)).await;
        assert_eq!(events, ["head 200 0 false", "failed Receive: unexpected EOF"]);
        assert!(!connection.is_usable());
    });
}

#[test]
fn cleartext_begins_with_http2() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        read_preface(&mut socket);
        socket.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
        let stream = read_request(&mut socket).unwrap();
        socket.write_all(&whole_answer(stream, b"clear")).unwrap();
        while read_frame(&mut socket).is_some() {}
    });
    run(Settings::default(), async |client| {
        let url = Url::parse(&format!("http://{address}/")).unwrap();
        let connection = connect(&client, &url).await;
        let mut call = open(&connection, &url);
        call.send(Bytes::new(), true);
        assert_eq!(all(&mut call).await, ["head 200 0 false", "data clear", "trailers 0", "end"]);
    });
    server.join().unwrap();
}

#[test]
fn a_server_that_does_not_choose_http2_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let config = Arc::new(server_config(&key_for("localhost"), rustls::ALL_VERSIONS, None));
    let server = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        await_close(&mut StreamOwned::new(ServerConnection::new(config).unwrap(), socket));
    });
    let failure = run(trusting(), async |client| {
        let dial = Http2Dial { url: &url(address), tls: None, server_name: None, timeout: Duration::from_secs(10) };
        client.connect_http2(&dial).await.err().unwrap()
    });
    server.join().unwrap();
    let message = "the server does not offer HTTP/2: it chose no protocol, expected \"h2\" (ALPN)";
    assert_eq!((failure.step, &*failure.message), (Step::Handshake, message));
}

#[test]
fn a_call_ends_at_its_time_although_the_content_never_does() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let stream = read_request(tls).unwrap();
        write(tls, &frame(HEADERS, END_HEADERS, stream, STATUS_200));
        let flood = frame(DATA, 0, stream, b"x").repeat(500);
        while tls.write_all(&flood).and_then(|()| tls.flush()).is_ok() {}
    };
    with_server(play, async |connection, url| {
        let head = CallHead::new(&url, None, "/a.B/C", &[]).unwrap();
        let mut call = connection.open(&head, Some(Duration::from_millis(200)));
        let mut event = next(&mut call).await;
        // Without its time the call has no end.
        for _ in 0..1_000_000 {
            if event != "data x" && event != "head 200 0 false" {
                break;
            }
            event = next(&mut call).await;
        }
        assert_eq!(event, "timed out");
        drop(connection);
    });
}

#[test]
fn a_call_whose_user_does_something_else_keeps_no_other_waiting() {
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let (first, second) = (read_request(tls).unwrap(), read_request(tls).unwrap());
        write(tls, &frame(HEADERS, END_HEADERS, second, STATUS_200));
        // When the second call was told of its head and its user is elsewhere.
        read_kind(tls, DATA);
        write(tls, &whole_answer(first, b"text"));
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let (mut first, mut second) = (open(&connection, &url), open(&connection, &url));
        let waiting = tokio::task::spawn_local(async move { all(&mut first).await });
        tokio::task::yield_now().await;
        assert_eq!(next(&mut second).await, "head 200 0 false");
        second.send(Bytes::from_static(b"x"), false);
        let _queued = poll_fn(|cx| std::task::Poll::Ready(second.poll(cx))).await;
        let heard = tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("nobody read what came");
        assert_eq!(heard.unwrap(), ["head 200 0 false", "data text", "trailers 0", "end"]);
        drop(second);
    });
}

#[test]
fn a_call_sends_on_when_another_reads_that_it_may() {
    const LENGTH: usize = 100_000;
    let play = |tls: &mut Tls| {
        begin(tls, &[]);
        let mut received = 0;
        let mut uploader = None;
        let other = loop {
            let (kind, _, stream, payload) = read_frame(tls).unwrap();
            match kind {
                HEADERS if uploader.is_some() => break stream,
                HEADERS => uploader = Some(stream),
                DATA => received += payload.len(),
                _ => {}
            }
        };
        assert_eq!(received, 65_535);
        let uploader = uploader.unwrap();
        let by = (LENGTH as u32).to_be_bytes();
        write(tls, &[frame(WINDOW_UPDATE, 0, 0, &by), frame(WINDOW_UPDATE, 0, uploader, &by)].concat());
        while received < LENGTH {
            received += read_kind(tls, DATA).1.len();
        }
        write(tls, &[whole_answer(uploader, b"text"), whole_answer(other, b"text")].concat());
        await_close(tls);
    };
    with_server(play, async |connection, url| {
        let (mut uploader, mut other) = (open(&connection, &url), open(&connection, &url));
        uploader.send(Bytes::from(vec![7; LENGTH]), true);
        other.send(Bytes::new(), true);
        let uploading = tokio::task::spawn_local(async move { all(&mut uploader).await });
        tokio::task::yield_now().await;
        let other = tokio::time::timeout(Duration::from_secs(30), all(&mut other)).await;
        assert_eq!(other.expect("the upload waits for ever").last().unwrap(), "end");
        assert_eq!(uploading.await.unwrap().last().unwrap(), "end");
    });
}
