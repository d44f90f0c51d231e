//! The way to a server: through proxies, and over connections that ended while nobody used them.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use onrush_wire::settings::Proxies;
use onrush_wire::{Exchange, FailureKind, Settings, Url};

use crate::peer::*;
use crate::support::tls::trusting;
use crate::support::{body, failure, get, read_request as read_http1, run, send_all};

fn begin(socket: &mut (impl Read + Write)) {
    read_preface(socket);
    write(socket, &frame(SETTINGS, 0, 0, &[]));
}

fn answer(socket: &mut (impl Read + Write), text: &[u8]) {
    let stream = read_request(socket).unwrap();
    write(socket, &[frame(HEADERS, END_HEADERS, stream, STATUS_200), frame(DATA, END_STREAM, stream, text)].concat());
}

/// A TLS server that answers two requests of one connection.
fn two_over_tls() -> (SocketAddr, JoinHandle<()>) {
    serve(1, |tls, _| {
        begin(tls);
        answer(tls, b"one");
        answer(tls, b"two");
        await_close(tls);
    })
}

/// The same without TLS.
fn two_in_cleartext() -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        begin(&mut socket);
        answer(&mut socket, b"one");
        answer(&mut socket, b"two");
        await_close(&mut socket);
    });
    (address, thread)
}

/// A proxy for one connection to `to`, opened by `greet`; hands back what `greet` saw.
fn proxy(to: SocketAddr, greet: fn(&mut TcpStream) -> Vec<u8>) -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let seen = greet(&mut client);
        let server = TcpStream::connect(to).unwrap();
        let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || copy(from_server, to_client));
        copy(client, server);
        seen
    });
    (address, thread)
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let _gone = std::io::copy(&mut from, &mut to);
    let _gone = to.shutdown(Shutdown::Write);
}

fn connect(client: &mut TcpStream) -> Vec<u8> {
    let seen = read_http1(client, false);
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    seen
}

fn socks(client: &mut TcpStream) -> Vec<u8> {
    let mut seen = vec![0; 3];
    client.read_exact(&mut seen).unwrap();
    client.write_all(&[5, 0]).unwrap();
    seen.resize(3 + 5, 0);
    client.read_exact(&mut seen[3..]).unwrap();
    let rest = seen.len() + usize::from(seen[7]) + 2;
    seen.resize(rest, 0);
    client.read_exact(&mut seen[8..]).unwrap();
    client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]).unwrap();
    seen
}

fn through(proxy: &str) -> Settings {
    let proxies = Proxies { http: Some(proxy.into()), https: Some(proxy.into()), ..Proxies::default() };
    Settings { proxies, ..trusting() }
}

#[test]
fn proxies_carry_http2_through_one_tunnel() {
    type Server = fn() -> (SocketAddr, JoinHandle<()>);
    type Greet = fn(&mut TcpStream) -> Vec<u8>;
    let head = b"CONNECT a.test:81 HTTP/1.1\r\nHost: a.test:81\r\nUser-Agent: t\r\n\r\n";
    let request = b"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x00\x51";
    let cases: [(&str, Server, &str, Greet, &[u8]); 4] = [
        ("https", two_over_tls, "http", connect, head),
        ("h2c", two_in_cleartext, "http", connect, head),
        ("https", two_over_tls, "socks5", socks, request),
        ("h2c", two_in_cleartext, "socks5", socks, request),
    ];
    for (scheme, server, kind, greet, expected) in cases {
        let (to, server) = server();
        let (address, proxy) = proxy(to, greet);
        let request = get(Url::parse(&format!("{scheme}://a.test:81/")).unwrap());
        let exchanges = send_all(through(&format!("{kind}://{address}")), &[request.clone(), request]);
        let protos: Vec<_> = exchanges.iter().map(|exchange| exchange.outcome.as_ref().unwrap().proto).collect();
        assert_eq!(protos, ["HTTP/2.0"; 2], "{scheme} by {kind}");
        assert_eq!((body(&exchanges[0]), body(&exchanges[1])), (b"one".to_vec(), b"two".to_vec()));
        assert!(exchanges[1].connection.as_ref().unwrap().reused, "{scheme} by {kind}");
        assert!(exchanges[0].bytes_sent > exchanges[1].bytes_sent + expected.len() as u64, "the tunnel is counted");
        server.join().unwrap();
        assert_eq!(proxy.join().unwrap().escape_ascii().to_string(), expected.escape_ascii().to_string());
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Fin,
    Reset,
    GoAway,
}

/// Ends the first connection after its first answer: while it is idle, or when its second request has come.
fn ending(ending: Ending, with_request: bool) -> Vec<Exchange> {
    let (address, server) = serve(2, move |tls, at| {
        begin(tls);
        answer(tls, b"ok");
        if at == 1 {
            return await_close(tls);
        }
        if with_request {
            read_request(tls).unwrap();
        }
        match ending {
            Ending::Fin => tls.sock.shutdown(Shutdown::Both).unwrap(),
            Ending::Reset => {
                socket2::SockRef::from(&tls.sock).set_linger(Some(Duration::ZERO)).unwrap();
                // Dropped before TLS says goodbye, which goes elsewhere.
                let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
                tls.sock = TcpStream::connect(elsewhere.local_addr().unwrap()).unwrap();
            }
            Ending::GoAway => write(tls, &frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])),
        }
    });
    let request = get(crate::support::tls::url(address));
    let exchanges = run(trusting(), async |client| {
        let mut all = Vec::new();
        for _ in 0..2 {
            all.push(*client.send(&request, None, &mut |_| {}).await);
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        if all[1].outcome.is_err() {
            all.push(*client.send(&request, None, &mut |_| {}).await);
        }
        all
    });
    server.join().unwrap();
    exchanges
}

#[test]
fn a_connection_that_ends_while_it_is_idle_costs_no_request() {
    for how in [Ending::Fin, Ending::Reset, Ending::GoAway] {
        let exchanges = ending(how, false);
        assert_eq!((exchanges.len(), body(&exchanges[1])), (2, b"ok".to_vec()), "{how:?}");
        assert!(!exchanges[1].connection.as_ref().unwrap().reused, "{how:?}");
    }
}

/// As Go: what the server may have processed is not sent again, and what it says it has not is.
#[test]
fn a_connection_that_ends_under_a_request_fails_it_unless_the_server_has_excluded_it() {
    for (how, kind, text) in [
        (Ending::Fin, FailureKind::Other, "unexpected EOF"),
        (Ending::Reset, FailureKind::ConnectionReset, "read: connection reset by peer"),
    ] {
        let exchanges = ending(how, true);
        assert_eq!(exchanges[1].outcome.as_ref().unwrap_err().kind, kind, "{how:?}");
        assert_eq!(failure(&exchanges[1]), text, "{how:?}");
        assert_eq!(body(&exchanges[2]), b"ok", "{how:?}");
    }
    let exchanges = ending(Ending::GoAway, true);
    assert_eq!((exchanges.len(), body(&exchanges[1])), (2, b"ok".to_vec()));
}
