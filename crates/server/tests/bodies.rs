//! Bodies of every kind over every socket: the same bytes, in few writes, and nothing ready held back.

#![allow(clippy::unwrap_used)]

mod client;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use client::{Answer, Client, PATIENCE, connect, server};
use onrush_server::{Server, ServerConfig};

const KINDS: [&str; 4] = ["string", "array", "chunked", "file"];

/// A server on all three kinds of socket.
struct Everywhere {
    server: Server,
    unix: PathBuf,
}

trait Socket: Read + Write {}
impl<S: Read + Write> Socket for S {}

impl Everywhere {
    fn start(name: &str) -> Self {
        let any = || vec!["127.0.0.1:0".parse().unwrap()];
        let unix = std::env::temp_dir().join(format!("onrush-bodies-{name}-{}.sock", std::process::id()));
        let config = ServerConfig { tcp: any(), tls: any(), unix: vec![unix.clone()], ..ServerConfig::default() };
        Everywhere { server: Server::start(config).unwrap(), unix }
    }

    fn clients(&self) -> [(&'static str, Client<Box<dyn Socket>>); 3] {
        let unix = UnixStream::connect(&self.unix).unwrap();
        unix.set_read_timeout(Some(PATIENCE)).unwrap();
        [
            ("tcp", Client::new(Box::new(connect(&self.server).socket))),
            ("tls", Client::new(Box::new(client::tls(&self.server)))),
            ("unix", Client::new(Box::new(unix))),
        ]
    }
}

fn check(answer: &Answer, kind: &str, size: usize, noise: &[u8]) {
    assert_eq!(answer.header("content-length").is_none(), kind == "chunked");
    assert_eq!(answer.body.len(), size);
    assert!(answer.body.chunks(noise.len()).all(|part| *part == noise[..part.len()]), "other bytes came");
}

#[test]
fn the_same_bytes_whatever_the_kind_and_the_socket() {
    let lab = Everywhere::start("same");
    let noise = connect(&lab.server).get("/bytes/1048576").body;
    for (socket, mut client) in lab.clients() {
        for size in [0, 1, 1024, 10_240, 102_400, 1 << 20, (5 << 20) + 3] {
            for kind in KINDS {
                let answer = client.get(&format!("/body/{kind}/{size}"));
                assert_eq!(answer.status, 200, "{kind} {size} over {socket}");
                // `/body` repeats the megabyte piece by piece.
                let noise = if ["array", "chunked"].contains(&kind) { &noise[..1024] } else { &noise };
                check(&answer, kind, size, noise);
            }
        }
        client.send("HEAD /body/file/1m HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(client.until("\r\n\r\n").contains("Content-Length: 1048576\r\n"));
        for kind in ["string", "file"] {
            let part = client.get_with(&format!("/body/{kind}/1m"), "Range: bytes=70000-99999\r\n");
            assert_eq!((part.status, part.header("content-range")), (206, Some("bytes 70000-99999/1048576")));
            assert!(part.body == noise[70_000..100_000], "{kind} over {socket}");
            assert_eq!(client.get_with(&format!("/body/{kind}/10"), "Range: bytes=10-\r\n").status, 416);
        }
    }
    let mut client = connect(&lab.server);
    for path in ["/body/paper/1k", "/body/string/2g", "/body/array/1k?piece=0", "/body/array/1g?piece=1"] {
        assert_eq!(client.get(path).status, 400, "{path}");
    }
}

#[test]
fn chunks_are_the_pieces() {
    let server = server(1);
    let mut client = connect(&server);
    client.send("GET /body/chunked/2500?piece=1000 HTTP/1.1\r\nHost: a\r\n\r\n");
    client.until("\r\n\r\n");
    for (line, size) in [("3e8\r\n", 1000), ("3e8\r\n", 1000), ("1f4\r\n", 500)] {
        assert_eq!(client.until("\r\n"), line);
        client.exactly(size + 2);
    }
    assert_eq!(client.until("\r\n\r\n"), "0\r\n\r\n");
}

#[test]
fn a_body_is_one_write() {
    let server = server(1);
    let mut client = connect(&server);
    // Asked behind the response, so that its writes are counted; the last answer to this question is among them.
    let writes = |client: &mut Client<TcpStream>| client.get("/stats").json()["writes"].as_u64().unwrap();
    let mut before = writes(&mut client);
    for (path, most) in [
        ("/", 1),
        ("/body/string/100k", 1),
        ("/body/array/100k", 1),
        ("/body/chunked/100k", 1),
        ("/body/array/100k?piece=8k", 1),
        ("/body/chunked/100k?piece=8k", 1),
        ("/body/file/16k", 1),
        ("/body/file/100k", 2),
        ("/stream/20", 1),
    ] {
        client.get(path);
        let now = writes(&mut client);
        // The kernel may take a part first; a write a piece would be a hundred.
        let of_body = now - before - 1;
        assert!((1..=most + 3).contains(&of_body), "{path} took {of_body} writes");
        before = now;
    }
}

#[test]
fn a_ready_piece_does_not_wait_for_one_that_is_not() {
    let lab = Everywhere::start("ready");
    for (socket, mut client) in lab.clients() {
        client.send("GET /drip?numbytes=2&duration=60 HTTP/1.1\r\nHost: a\r\n\r\n");
        let came = client.until("*");
        assert!(came.contains("Content-Length: 2\r\n") && came.ends_with("\r\n\r\n*"), "{socket}: {came}");
    }
}

/// A client whose window is far smaller than what it asks for.
fn narrow(server: &Server) -> Client<Box<dyn Socket>> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(&server.addresses().tcp[0].into()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    Client::new(Box::new(TcpStream::from(socket)))
}

#[test]
fn slow_readers_get_everything() {
    let lab = Everywhere::start("slow");
    let size = 3 << 20;
    let noise = connect(&lab.server).get("/bytes/1024").body;
    for kind in KINDS {
        for (socket, mut slow) in [("a narrow window", narrow(&lab.server))].into_iter().chain(lab.clients()) {
            // The second response waits behind the first, which fills every buffer.
            let request = format!("GET /body/{kind}/{size}?piece=1k HTTP/1.1\r\nHost: a\r\n\r\n");
            slow.send(request.repeat(2));
            // Others are served meanwhile.
            assert_eq!(connect(&lab.server).get("/").status, 200);
            for _ in 0..2 {
                let answer = slow.answer();
                assert_eq!(answer.body.len(), size, "{kind} over {socket}");
                if kind == "chunked" || kind == "array" {
                    check(&answer, kind, size, &noise);
                }
            }
        }
    }
    assert_eq!(lab.server.stats()["cut_short"], 0);
}
