//! What a TLS server may do with its records: send them in any pieces, before it is asked, changed, cut off; and what
//! the client makes of that.
//!
//! The servers here drive rustls by hand, so that what is on the wire, and when, is in the hands of the test.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use onrush_wire::Url;
use rustls::{AlertDescription, Error, ServerConfig, ServerConnection};
use support::tls::{OK, key_for, server_config, trusting, url};
use support::{body, failure, get, post, send_all};

/// A server of one connection that does this.
fn play<T: Send + 'static>(
    change: impl FnOnce(&mut ServerConfig),
    acts: impl FnOnce(&mut ServerConnection, &mut TcpStream) -> T + Send + 'static,
) -> (Url, JoinHandle<T>) {
    let mut config = server_config(&key_for("localhost"), rustls::ALL_VERSIONS, None);
    change(&mut config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket.set_nodelay(true).unwrap();
        acts(&mut ServerConnection::new(Arc::new(config)).unwrap(), &mut socket)
    });
    (url(address), thread)
}

/// What the session has to send.
fn records(session: &mut ServerConnection) -> Vec<u8> {
    let mut records = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut records).unwrap();
    }
    records
}

/// The records of this content.
fn sealed(session: &mut ServerConnection, content: &[u8]) -> Vec<u8> {
    session.writer().write_all(content).unwrap();
    records(session)
}

/// Runs the handshake up to and with the client's last message.
fn shake(session: &mut ServerConnection, socket: &mut TcpStream) {
    while session.is_handshaking() {
        socket.write_all(&records(session)).unwrap();
        session.read_tls(socket).unwrap();
        session.process_new_packets().unwrap();
    }
}

/// Receives until so much content is there.
fn receive(session: &mut ServerConnection, socket: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut seen = Vec::new();
    loop {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = session.reader().read(&mut piece) {
            seen.extend_from_slice(&piece[..n]);
        }
        if seen.len() >= length {
            return seen;
        }
        session.read_tls(socket).unwrap();
        session.process_new_packets().unwrap();
    }
}

#[test]
fn records_may_come_byte_by_byte() {
    let (url, server) = play(
        |_| {},
        |session, socket| {
            let trickle = |bytes: Vec<u8>, socket: &mut TcpStream| {
                for byte in bytes {
                    socket.write_all(&[byte]).unwrap();
                    thread::sleep(Duration::from_micros(50));
                }
            };
            while session.is_handshaking() {
                trickle(records(session), socket);
                session.read_tls(socket).unwrap();
                session.process_new_packets().unwrap();
            }
            for _ in 0..2 {
                receive(session, socket, 1);
                trickle(sealed(session, OK), socket);
            }
        },
    );
    let exchanges = send_all(trusting(), &[get(url.clone()), get(url)]);
    assert!(exchanges.iter().all(|exchange| body(exchange) == b"ok"));
    assert!(exchanges[1].connection.as_ref().unwrap().reused);
    server.join().unwrap();
}

#[test]
fn what_comes_with_the_servers_last_message_is_the_first_answer() {
    let (url, server) = play(
        |config| config.send_half_rtt_data = true,
        |session, socket| {
            session.read_tls(socket).unwrap();
            session.process_new_packets().unwrap();
            let flight = sealed(session, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull");
            socket.write_all(&flight).unwrap();
            shake(session, socket);
            receive(session, socket, 1);
        },
    );
    let exchange = send_all(trusting(), &[get(url)]).remove(0);
    assert_eq!((exchange.outcome.as_ref().unwrap().status, &body(&exchange)[..]), (503, &b"full"[..]));
    server.join().unwrap();
}

#[test]
fn a_ticket_may_come_in_parts_while_a_body_is_sent() {
    const SIZE: usize = 16 << 20;
    let (url, server) = play(
        // So small that a ticket does not fit into a record.
        |config| config.max_fragment_size = Some(64),
        |session, socket| {
            shake(session, socket);
            let tickets = records(session);
            let first = 5 + usize::from(u16::from_be_bytes([tickets[3], tickets[4]]));
            assert!(first < tickets.len() / 2);
            // The client waits for room to send, and finds the begin of a message.
            thread::sleep(Duration::from_millis(50));
            socket.write_all(&tickets[..first]).unwrap();
            thread::sleep(Duration::from_millis(50));
            let seen = receive(session, socket, SIZE);
            let answer = sealed(session, OK);
            socket.write_all(&[&tickets[first..], &answer].concat()).unwrap();
            seen
        },
    );
    let exchange = send_all(trusting(), &[post(url, vec![7; SIZE])]).remove(0);
    assert_eq!(body(&exchange), b"ok");
    assert!(server.join().unwrap().ends_with(&[7; SIZE]));
}

#[test]
fn keys_may_change_between_answers() {
    let (url, server) = play(
        |_| {},
        |session, socket| {
            shake(session, socket);
            for _ in 0..3 {
                receive(session, socket, 1);
                session.refresh_traffic_keys().unwrap();
                let answer = sealed(session, OK);
                socket.write_all(&answer).unwrap();
            }
        },
    );
    let exchanges = send_all(trusting(), &[get(url.clone()), get(url.clone()), get(url)]);
    assert!(exchanges.iter().all(|exchange| body(exchange) == b"ok"));
    server.join().unwrap();
}

#[test]
fn a_changed_record_is_a_failure_and_the_server_hears_of_it() {
    let (url, server) = play(
        |_| {},
        |session, socket| {
            shake(session, socket);
            receive(session, socket, 1);
            let mut answer = sealed(session, OK);
            *answer.last_mut().unwrap() ^= 1;
            socket.write_all(&answer).unwrap();
            session.read_tls(socket).unwrap();
            session.process_new_packets().unwrap_err()
        },
    );
    let exchange = send_all(trusting(), &[get(url)]).remove(0);
    assert_eq!(failure(&exchange), "tls: cannot decrypt peer's message");
    assert_eq!(server.join().unwrap(), Error::AlertReceived(AlertDescription::BadRecordMac));
}

#[test]
fn an_end_within_a_record_is_an_end_within_the_answer() {
    for (kept, why) in [(0, "EOF"), (3, "EOF"), (40, "EOF")] {
        let (url, server) = play(
            |_| {},
            move |session, socket| {
                shake(session, socket);
                receive(session, socket, 1);
                let answer = sealed(session, OK);
                socket.write_all(&answer[..kept]).unwrap();
            },
        );
        assert_eq!(failure(&send_all(trusting(), &[get(url)])[0]), why, "{kept}");
        server.join().unwrap();
    }
    let (url, server) = play(
        |_| {},
        |session, socket| {
            shake(session, socket);
            receive(session, socket, 1);
            let begin = sealed(session, b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nbegin");
            let rest = sealed(session, &[b'r'; 85]);
            socket.write_all(&[&begin[..], &rest[..50]].concat()).unwrap();
        },
    );
    assert_eq!(failure(&send_all(trusting(), &[get(url)])[0]), "unexpected EOF");
    server.join().unwrap();
}

#[test]
fn a_goodbye_ends_a_body_without_a_length() {
    let (url, server) = play(
        |_| {},
        |session, socket| {
            shake(session, socket);
            receive(session, socket, 1);
            let mut answer = sealed(session, b"HTTP/1.1 200 OK\r\n\r\nto the end");
            session.send_close_notify();
            answer.extend(records(session));
            // What comes behind is not looked at.
            answer.extend_from_slice(b"\x17\x03\x03\x00\x05hello");
            socket.write_all(&answer).unwrap();
            let _closed = socket.read(&mut [0; 100]);
        },
    );
    assert_eq!(body(&send_all(trusting(), &[get(url)])[0]), b"to the end");
    server.join().unwrap();
}
