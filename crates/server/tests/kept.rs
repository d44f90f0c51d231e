//! Routes that tell bodies back keep them in memory: the total of all clients is limited, refused by 503, and given
//! back.

#![allow(clippy::unwrap_used)]

mod client;

use std::net::TcpStream;

use client::{Client, connect, wait_until};
use onrush_server::{Limits, Server, ServerConfig};

const MIB: usize = 1 << 20;
const CLIENTS: usize = 12;
const TOTAL: usize = 4 * MIB;
const DETAIL: &str = "the bodies of all clients together would take more than 4194304 bytes (--max-kept); try again, \
    or use /upload, which keeps none";

fn start() -> Server {
    let any = "127.0.0.1:0".parse().unwrap();
    let limits = Limits { kept: TOTAL as u64, ..Limits::default() };
    Server::start(ServerConfig { tcp: vec![any], workers: 2, limits, ..ServerConfig::default() }).unwrap()
}

/// A client that has sent all of a body but its last byte.
fn begin(server: &Server) -> Client<TcpStream> {
    let mut client = connect(server);
    let head = format!("POST /post HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: {MIB}\r\n\r\n");
    client.send(head);
    // Refused clients are not read to the end: the server may have closed.
    let _refused = std::io::Write::write_all(&mut client.socket, &vec![b'x'; MIB - 1]);
    client
}

fn has_answer(client: &Client<TcpStream>) -> bool {
    client.socket.set_nonblocking(true).unwrap();
    let seen = client.socket.peek(&mut [0]);
    client.socket.set_nonblocking(false).unwrap();
    seen.is_ok()
}

#[test]
fn a_total_of_all_clients_is_kept_and_given_back() {
    let server = start();
    for round in 0..3 {
        let mut clients: Vec<_> = (0..CLIENTS).map(|_| begin(&server)).collect();
        // So many bodies but for a byte fit at most, and nobody else is answered before his last byte.
        let refused = || clients.iter().filter(|client| has_answer(client)).count();
        wait_until(|| refused() >= CLIENTS - TOTAL / (MIB - 1));
        let mut statuses = Vec::new();
        for client in &mut clients {
            if !has_answer(client) {
                client.send("x");
            }
            let answer = client.answer();
            if answer.status == 503 {
                assert_eq!((answer.json()["detail"].as_str(), answer.header("retry-after")), (Some(DETAIL), Some("1")));
            } else {
                assert_eq!(answer.json()["data"].as_str().map(str::len), Some(MIB));
            }
            statuses.push(answer.status);
        }
        assert!(statuses.contains(&200) && statuses.contains(&503), "round {round}: {statuses:?}");
        drop(clients);
        let alone = connect(&server).post("/post", "text/plain", &vec![b'x'; MIB]);
        assert_eq!(alone.status, 200, "round {round}: what ended was not given back");
    }
}

#[test]
fn bodies_that_nobody_keeps_are_not_counted() {
    let server = start();
    let answer = connect(&server).post("/upload", "text/plain", &vec![b'x'; 3 * TOTAL]);
    assert_eq!(answer.status, 200);
}
