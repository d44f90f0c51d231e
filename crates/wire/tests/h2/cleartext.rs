//! HTTP/2 without TLS, by prior knowledge: `h2c://` URLs and the request's own wish.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use onrush_wire::{Exchange, FailureKind, Request, Url};

use crate::peer::*;
use crate::support::{body, get, read_request as read_http1, run, send_all, settings};

/// Serves this many connections one after the other, without TLS.
fn serve_plain(
    connections: usize,
    mut play: impl FnMut(&mut TcpStream, usize) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        for at in 0..connections {
            let (mut socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            play(&mut socket, at);
        }
    });
    (address, thread)
}

fn begin(socket: &mut TcpStream) {
    read_preface(socket);
    write(socket, &frame(SETTINGS, 0, 0, &[]));
}

fn answer(socket: &mut TcpStream, stream: u32, text: &[u8]) {
    write(socket, &[frame(HEADERS, END_HEADERS, stream, STATUS_200), frame(DATA, END_STREAM, stream, text)].concat());
}

/// 302 with this Location.
fn redirect(socket: &mut TcpStream, stream: u32, location: &str) {
    let fields = [&[0x48, 3][..], b"302", &field(b"location", location.as_bytes())].concat();
    write(socket, &frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields));
}

fn url(scheme: &str, address: SocketAddr, path: &str) -> Url {
    Url::parse(&format!("{scheme}://{address}{path}")).unwrap()
}

fn proto(exchange: &Exchange) -> &'static str {
    exchange.outcome.as_ref().unwrap().proto
}

#[test]
fn an_h2c_url_is_http2_from_the_first_byte_on() {
    let (address, server) = serve_plain(1, |socket, _| {
        begin(socket);
        for _ in 0..2 {
            let stream = read_request(socket).unwrap();
            thread::sleep(Duration::from_millis(30));
            answer(socket, stream, b"hello");
        }
        await_close(socket);
    });
    let request = get(url("h2c", address, "/a"));
    let exchanges = send_all(settings(), &[request.clone(), request]);
    server.join().unwrap();
    for (exchange, reused) in exchanges.iter().zip([false, true]) {
        assert_eq!((body(exchange), proto(exchange)), (b"hello".to_vec(), "HTTP/2.0"));
        let timings = exchange.timings;
        assert!(timings.waiting >= Duration::from_millis(25) && timings.tls_handshaking.is_zero(), "{timings:?}");
        assert_eq!((timings.connecting.is_zero(), timings.blocked.is_zero()), (reused, reused));
        let connection = exchange.connection.as_ref().unwrap();
        assert_eq!((connection.reused, connection.tls_version), (reused, None));
    }
}

/// Speaks HTTP/1.1 on the first connection and HTTP/2 on the second.
fn serve_both(location: fn(SocketAddr) -> String) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let (mut first, _) = listener.accept().unwrap();
        let mut peeked = [0; 3];
        first.peek(&mut peeked).unwrap();
        let is_http2 = &peeked == b"PRI";
        if is_http2 {
            begin(&mut first);
            let stream = read_request(&mut first).unwrap();
            redirect(&mut first, stream, &location(address));
        } else {
            read_http1(&mut first, true);
            let head = format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", location(address));
            first.write_all(head.as_bytes()).unwrap();
        }
        let (mut second, _) = listener.accept().unwrap();
        if is_http2 {
            read_http1(&mut second, true);
            second.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none").unwrap();
        } else {
            begin(&mut second);
            let stream = read_request(&mut second).unwrap();
            answer(&mut second, stream, b"two");
        }
        await_close(&mut second);
    });
    (address, thread)
}

#[test]
fn a_redirect_goes_by_the_rules_of_its_url() {
    type Location = fn(SocketAddr) -> String;
    let cases: [(&str, Location, [&str; 2], &[u8]); 2] = [
        ("h2c", |address| format!("http://{address}/b"), ["HTTP/2.0", "HTTP/1.1"], b"one"),
        ("http", |address| format!("h2c://{address}/b"), ["HTTP/1.1", "HTTP/2.0"], b"two"),
    ];
    for (scheme, location, protos, content) in cases {
        let (address, server) = serve_both(location);
        run(settings(), async |client| {
            let mut hops = Vec::new();
            let last = client.send(&get(url(scheme, address, "/a")), None, &mut |hop| hops.push(proto(hop))).await;
            assert_eq!((hops, body(&last)), (vec![protos[0]], content.to_vec()), "{scheme}");
            assert_eq!(proto(&last), protos[1], "{scheme}");
        });
        server.join().unwrap();
    }
}

#[test]
fn a_request_may_wish_it_for_every_http_url() {
    let (address, server) = serve_plain(1, |socket, _| {
        begin(socket);
        let stream = read_request(socket).unwrap();
        let here = socket.local_addr().unwrap();
        redirect(socket, stream, &format!("http://{here}/b"));
        let stream = read_request(socket).unwrap();
        answer(socket, stream, b"there");
        await_close(socket);
    });
    let request = Request { prior_knowledge: true, ..get(url("http", address, "/a")) };
    let exchange = send_all(settings(), &[request]).remove(0);
    assert_eq!((body(&exchange), proto(&exchange)), (b"there".to_vec(), "HTTP/2.0"));
    assert_eq!(exchange.url.scheme(), "http", "the URL says what was asked for");
    server.join().unwrap();
}

#[test]
fn equal_requests_that_wish_different_versions_go_different_ways() {
    let (address, server) = serve_plain(2, |socket, at| match at {
        0 => {
            read_http1(socket, true);
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none").unwrap();
            read_http1(socket, true);
            socket.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none").unwrap();
        }
        _ => {
            begin(socket);
            let stream = read_request(socket).unwrap();
            answer(socket, stream, b"two");
            await_close(socket);
        }
    });
    let plain = get(url("http", address, "/"));
    let wishing = Request { prior_knowledge: true, ..plain.clone() };
    let exchanges = send_all(settings(), &[plain.clone(), plain, wishing]);
    server.join().unwrap();
    assert_eq!(exchanges.iter().map(proto).collect::<Vec<_>>(), ["HTTP/1.1", "HTTP/1.1", "HTTP/2.0"]);
}

#[test]
fn a_server_without_http2_is_named() {
    let (address, server) = serve_plain(1, |socket, _| {
        read_preface(socket);
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        await_close(socket);
    });
    let exchange = send_all(settings(), &[get(url("h2c", address, "/"))]).remove(0);
    server.join().unwrap();
    let failure = exchange.outcome.unwrap_err();
    assert_eq!(
        failure.message,
        "http2: connection error with http2 ErrCode FRAME_SIZE_ERROR before the first answer: the server may speak \
         HTTP/1.1 alone"
    );
    assert_eq!(failure.kind, FailureKind::Http2Connection(7));
}
