//! Malformed and hostile requests, each as bytes with what must come of them: a status and an end, or a response and no
//! harm.
//!
//! Behind every one of them stands a request for `/ip`, the marker. A connection that closes must not have seen it, one
//! that continues must have seen it once: so no byte is read twice or as something else, which is what smuggling is
//! made of.

#![allow(clippy::unwrap_used)]

mod client;
mod hostile_requests;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use client::{Client, PATIENCE, connect, wait_until};
use hostile_requests::{BODY, Fate, HEAD, Last, MARKER, Refused, Served, Silent, table, truncated};
use onrush_server::{Limits, Server, ServerConfig};

fn start() -> Server {
    // Tests run side by side in one process.
    static SERVERS: AtomicUsize = AtomicUsize::new(0);
    let limits = Limits { head: HEAD, body: Some(BODY), ..Limits::default() };
    let (process, number) = (std::process::id(), SERVERS.fetch_add(1, Ordering::Relaxed));
    let unix = vec![std::env::temp_dir().join(format!("onrush-hostile-{process}-{number}.sock"))];
    let tcp = vec!["127.0.0.1:0".parse().unwrap()];
    Server::start(ServerConfig { tcp, unix, limits, ..ServerConfig::default() }).unwrap()
}

/// Requests for the marker so far.
fn markers(server: &Server) -> u64 {
    server.stats()["routes"]["/ip"].as_u64().unwrap_or(0)
}

/// Sends a case and the marker behind it, and looks at what comes.
fn probe<S: Read + Write>(server: &Server, client: &mut Client<S>, bytes: &[u8], fate: Fate, shut: impl Fn(&S)) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned();
    let before = markers(server);
    // The server may have closed before all of it was sent.
    let _refused_early = client.socket.write_all(&[bytes, MARKER.as_bytes()].concat());
    let status = |client: &mut Client<S>| if bytes.starts_with(b"HEAD") { client.head() } else { client.answer() };
    match fate {
        Served(want) => {
            assert_eq!(status(client).status, want, "{shown:?}");
            assert_eq!(client.answer().status, 200, "the marker behind {shown:?}");
            shut(&client.socket);
            client.assert_closed();
        }
        Refused(want) | Last(want) => {
            let answer = status(client);
            assert_eq!((answer.status, answer.header("connection")), (want, Some("close")), "{shown:?}");
            shut(&client.socket);
            client.assert_closed();
        }
        Silent => unreachable!("truncated requests have no marker"),
    }
    let seen = markers(server) - before;
    assert_eq!(seen, u64::from(matches!(fate, Served(_))), "markers seen behind {shown:?}");
}

#[test]
fn every_request_has_its_fate() {
    let server = start();
    let table = table();
    assert!(table.len() >= 150, "{}", table.len());
    for (bytes, fate) in &table {
        let mut client = connect(&server);
        probe(&server, &mut client, bytes, *fate, |socket| drop(socket.shutdown(Shutdown::Write)));
    }
    wait_until(|| server.stats()["connections"]["open"] == 0);
}

#[test]
fn unix_sockets_give_no_other() {
    let server = start();
    for (bytes, fate) in &table() {
        let socket = UnixStream::connect(&server.addresses().unix[0]).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Client::new(socket);
        probe(&server, &mut client, bytes, *fate, |socket| drop(socket.shutdown(Shutdown::Write)));
    }
}

#[test]
fn it_makes_no_difference_how_the_bytes_arrive() {
    let server = start();
    // How a response to HEAD is framed is told by the first byte, which is not in the last part.
    // What begins as HTTP/2's preface does is taken for it as soon as its first line is there, alone or not.
    let is_told = |bytes: &[u8]| !bytes.starts_with(b"HEAD") && !bytes.starts_with(b"PRI * HTTP/2.0");
    for (bytes, fate) in table().iter().filter(|(bytes, _)| bytes.len() < 200 && is_told(bytes)) {
        let mut client = connect(&server);
        for byte in &bytes[..bytes.len() - 1] {
            if client.socket.write_all(&[*byte]).is_err() {
                break;
            }
        }
        probe(&server, &mut client, &bytes[bytes.len() - 1..], *fate, |socket| drop(socket.shutdown(Shutdown::Write)));
    }
}

#[test]
fn truncated_requests_end_without_a_word() {
    let server = start();
    for (bytes, fate) in truncated() {
        assert_eq!(fate, Silent);
        let mut client = connect(&server);
        client.send(&bytes);
        client.socket.shutdown(Shutdown::Write).unwrap();
        client.assert_closed();
    }
    wait_until(|| server.stats()["connections"]["open"] == 0);
    // Those whose head was whole count.
    assert_eq!(server.requests(), 5);
}

/// Limits of time that a test can wait for, in milliseconds.
fn impatient(begun: u64, idle: u64) -> Server {
    let (short, idle_time) = (Duration::from_millis(begun), Duration::from_millis(idle));
    let limits = Limits { head_time: short, body_time: short, idle_time, ..Limits::default() };
    let tcp = vec!["127.0.0.1:0".parse().unwrap()];
    Server::start(ServerConfig { tcp, limits, ..ServerConfig::default() }).unwrap()
}

#[test]
fn slow_requests_end_in_time() {
    let server = impatient(100, 100);
    for (bytes, status) in [
        ("", 408),
        ("G", 408),
        ("GET / HTTP/1.1\r\nHost: a\r\n", 408),
        ("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell", 408),
        ("POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 408),
    ] {
        let mut client = connect(&server);
        client.send(bytes);
        assert_eq!(client.answer().status, status, "{bytes:?}");
        client.socket.shutdown(Shutdown::Write).unwrap();
        client.assert_closed();
    }
    assert_eq!(server.stats()["timed_out"], 5);
    // A busy machine may take its time between connecting and sending.
    let server = impatient(10_000, 100);
    let mut client = connect(&server);
    assert_eq!(client.get("/").status, 200);
    client.assert_closed();
    assert_eq!(server.stats()["timed_out"], 0);
}

#[test]
fn a_head_that_drips_ends_in_time_and_a_body_that_goes_on_does_not() {
    let server = impatient(1000, 1000);
    let mut dripping = connect(&server);
    let head = "GET / HTTP/1.1\r\nHost: a\r\nX: ".to_owned() + &"x".repeat(100_000);
    let mut sent = 0;
    for byte in head.as_bytes() {
        if dripping.socket.write_all(&[*byte]).is_err() {
            break;
        }
        sent += 1;
        std::thread::sleep(Duration::from_millis(10));
        if server.stats()["timed_out"] == 1 {
            break;
        }
    }
    assert!(sent < 5_000, "it drips on");
    assert_eq!(dripping.answer().status, 408);

    // Longer than the limit in all, each pause far below it.
    let mut slow = connect(&server);
    slow.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\n");
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(40));
        slow.send("x");
    }
    assert_eq!(slow.answer().json()["received"], 30);
}

#[test]
fn what_is_at_work_has_no_limit() {
    let server = impatient(800, 300);
    let mut client = connect(&server);
    assert_eq!(client.get("/delay/1500ms").status, 200);
    assert_eq!(client.get("/drip?numbytes=3&duration=1500ms").body, b"***");
    client.assert_closed();
}
