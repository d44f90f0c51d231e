//! Are the timings true? A busy reader must not lengthen them, a slow peer must show in the right step.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use onrush_wire::hosts::FixedHosts;
use onrush_wire::{Exchange, Settings, Url};
use support::{Act, Peer, body, get, run, send, settings, write};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const BUSY: Duration = Duration::from_millis(60);

/// Sends a request on a warm connection and keeps the thread busy while the answer arrives.
fn while_busy(settings: Settings, url: Url) -> (Exchange, Duration) {
    run(settings, async |client| {
        let request = get(url);
        client.send(&request, None, &mut |_| {}).await;
        let start = Instant::now();
        let mut hop = |_: &Exchange| {};
        let busy = async {
            std::thread::sleep(BUSY);
        };
        let (exchange, ()) = tokio::join!(client.send(&request, None, &mut hop), busy);
        (*exchange, start.elapsed())
    })
}

#[test]
fn an_answer_that_waited_for_its_reader_is_timed_by_the_kernel() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(OK), Act::ReadRequest, write(OK)]]);
    let (exchange, took) = while_busy(settings(), peer.url("/"));
    assert_eq!(body(&exchange), b"ok");
    assert!(exchange.connection.unwrap().kernel_stamps);
    assert!(took >= BUSY, "the reader was not busy");
    assert!(exchange.timings.duration() < took / 2, "{:?} of {took:?}", exchange.timings);
    let ago = SystemTime::now().duration_since(exchange.ended_at).unwrap();
    assert!(ago >= BUSY / 2, "the exchange ended when its bytes arrived, {ago:?} ago");
    peer.finish();
}

#[test]
fn a_slow_peer_shows_in_waiting_and_a_slow_body_in_receiving() {
    let pause = Duration::from_millis(40);
    let head = write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    let peer = Peer::play(vec![vec![Act::ReadRequest, Act::Pause(pause), head, Act::Pause(pause * 2), write("ok")]]);
    let exchange = send(&get(peer.url("/")));
    assert_eq!(body(&exchange), b"ok");
    let t = exchange.timings;
    assert!(t.waiting >= pause * 9 / 10 && t.receiving >= pause * 18 / 10, "{t:?}");
    assert!(t.connecting > Duration::ZERO && t.blocked >= t.connecting, "{t:?}");
    assert_eq!(t.duration(), t.sending + t.waiting + t.receiving);
    peer.finish();
}

#[test]
fn a_reused_connection_is_neither_connected_nor_shaken_again() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, write(OK), Act::ReadRequest, write(OK)]]);
    let exchanges = support::send_all(settings(), &[get(peer.url("/")), get(peer.url("/"))]);
    let t = exchanges[1].timings;
    assert_eq!((t.connecting, t.tls_handshaking, t.looking_up), Default::default());
    peer.finish();
}

#[test]
fn a_unix_socket_is_served_and_says_that_it_has_no_stamps() {
    use std::io::Write;
    let path = std::env::temp_dir().join(format!("onrush-wire-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let requests: Vec<_> = (0..2)
            .map(|_| {
                let request = support::read_request(&mut stream, true);
                stream.write_all(OK.as_bytes()).unwrap();
                request
            })
            .collect();
        requests
    });
    let hosts = [(String::from("app.test"), format!("unix:{}", path.display()))].into();
    let hosts = Arc::new(FixedHosts::read(&hosts).unwrap());
    let url = Url::parse("http://app.test/x").unwrap();
    let exchanges = support::send_all(Settings { hosts, ..settings() }, &[get(url.clone()), get(url)]);
    std::fs::remove_file(&path).unwrap();
    assert!(exchanges.iter().all(|e| body(e) == b"ok"));
    let connection = exchanges[1].connection.clone().unwrap();
    assert!(connection.reused && !connection.kernel_stamps && connection.remote.is_none());
    let requests = server.join().unwrap();
    assert_eq!(requests[0], b"GET /x HTTP/1.1\r\nHost: app.test\r\nUser-Agent: t\r\n\r\n");
}
