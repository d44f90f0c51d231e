//! HTTP/1.1 over real sockets: framing, order, limits, ends.

#![allow(clippy::unwrap_used)]

mod client;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use client::{Client, PATIENCE, connect, server};
use onrush_server::{Server, ServerConfig};

const HELLO: &str = "hello from onrush\n";

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = server(1);
    let mut client = connect(&server);
    client.send("GET /status/201 HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHo");
    client.send("st: a\r\n\r\n");
    assert_eq!(client.answer().status, 201);
    let head = client.until("\r\n\r\n");
    assert!(head.contains("Content-Length: 18\r\n"), "{head}");
    assert_eq!(client.answer().text(), HELLO);
    assert_eq!(server.requests(), 3);
}

#[test]
fn a_ready_response_is_not_held_back_for_a_later_one() {
    let server = server(1);
    let mut client = connect(&server);
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /delay/60 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.answer().text(), HELLO);
    client.send("GET /drip?numbytes=2&duration=60 HTTP/1.1\r\nHost: a\r\n\r\n");
    let mut other = connect(&server);
    other.send("GET /drip?numbytes=2&duration=60 HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(other.until("\r\n\r\n").contains("Content-Length: 2\r\n"));
    assert_eq!(other.until("*"), "*");
}

#[test]
fn connections_persist_as_the_version_says() {
    let server = server(1);
    let mut client = connect(&server);
    for _ in 0..3 {
        assert_eq!(client.get("/").header("connection"), None);
    }
    assert_eq!(client.get_with("/", "Connection: close\r\n").header("connection"), Some("close"));
    client.assert_closed();
    let mut old = connect(&server);
    old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(old.answer().header("connection"), Some("keep-alive"));
    old.send("GET /stream/2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    let head = old.until("\r\n\r\n");
    assert!(!head.contains("Transfer-Encoding") && head.contains("Connection: close"), "{head}");
    assert_eq!(old.rest().iter().filter(|b| **b == b'\n').count(), 2);
    assert_eq!(server.stats()["connections"]["accepted"], 2);
}

#[test]
fn bodies_are_read_to_their_end_and_no_further() {
    let server = server(1);
    let mut client = connect(&server);
    let size = 3 * 1024 * 1024 + 17;
    let next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    client.send(format!("PUT /upload HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n"));
    client.send([vec![b'x'; size], next.into()].concat());
    assert_eq!(client.answer().json()["received"], size);
    assert_eq!(client.answer().text(), HELLO);

    let message = format!(
        "POST /post HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n{next}"
    );
    for byte in message.as_bytes() {
        client.send([*byte]);
    }
    assert_eq!(client.answer().json()["data"], "abcde");
    assert_eq!(client.answer().text(), HELLO);
    client.send(&message);
    assert_eq!(client.answer().json()["data"], "abcde");
    assert_eq!(client.answer().text(), HELLO);
    assert_eq!(server.stats()["body_bytes_received"], size + 10);
    assert_eq!(server.requests(), 6);
}

#[test]
fn expectations_are_met_before_the_body() {
    let server = server(1);
    let mut client = connect(&server);
    let head = "POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    client.send(head.replace("{}", "/upload"));
    assert_eq!(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    assert_eq!(client.answer().json()["received"], 5);
    client.send(head.replace("{}", "/upload") + "hello");
    assert_eq!(client.answer().json()["received"], 5);
    client.send(head.replace("{}", "/nowhere"));
    assert_eq!(client.answer().status, 404);
    client.assert_closed();
}

#[test]
fn what_is_refused_gets_a_status_and_an_end() {
    let server = server(1);
    let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    let table = [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("nonsense\r\n\r\n", 400),
        ("GET / HTTP/3.0\r\n\r\n", 505),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (&long, 431),
    ];
    for (bytes, status) in table {
        let mut client = connect(&server);
        client.send(bytes);
        let answer = client.answer();
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")), "{bytes:.40}");
        client.assert_closed();
    }
    assert_eq!((server.requests(), server.stats()["malformed"].as_u64()), (0, Some(5)));

    // Complete heads with bad bodies count.
    for (bytes, status) in [
        ("POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413),
    ] {
        let mut client = connect(&server);
        client.send(bytes);
        assert_eq!(client.answer().status, status);
        client.socket.shutdown(std::net::Shutdown::Write).unwrap();
        client.assert_closed();
    }
    assert_eq!(server.requests(), 2);
}

#[test]
fn methods_and_paths_that_do_not_fit() {
    let server = server(1);
    let mut client = connect(&server);
    assert_eq!(client.get("/nowhere").status, 404);
    let answer = client.get("/post");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST, OPTIONS")));
    client.send("OPTIONS /get HTTP/1.1\r\nHost: a\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
    assert_eq!(server.stats()["routes"], serde_json::json!({ "/get": 1, "/post": 1, "(none)": 1 }));
}

#[test]
fn tls_serves_the_same_with_a_certificate_that_can_be_trusted() {
    let any = ["127.0.0.1:0", "[::1]:0"].map(|a| a.parse().unwrap()).to_vec();
    let server = Server::start(ServerConfig { tls: any, ..ServerConfig::default() }).unwrap();
    let pem = server.addresses().certificate_pem.as_deref().unwrap();
    let der = rustls_pki_types::pem::PemObject::from_pem_slice(pem.as_bytes()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(der).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(builder.with_root_certificates(roots).with_no_client_auth());
    for (address, name) in server.addresses().tls.iter().zip(["localhost", "::1"]) {
        let session = rustls::ClientConnection::new(config.clone(), name.try_into().unwrap()).unwrap();
        let socket = std::net::TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Client::new(rustls::StreamOwned::new(session, socket));
        assert_eq!(client.get("/").text(), HELLO);
        assert!(client.get("/get?a=b").json()["url"].as_str().unwrap().starts_with("https://localhost/get"));
        // More than TLS buffers at once, both ways.
        assert_eq!(client.get("/bytes/3000000").body.len(), 3_000_000);
        assert_eq!(client.post("/upload", "", &vec![0; 3_000_000]).json()["received"], 3_000_000);
        assert_eq!(client.get_with("/", "Connection: close\r\n").text(), HELLO);
        // An end without close_notify would be an error here.
        client.assert_closed();
    }
    assert_eq!(server.requests(), 10);
    let mut stranger = std::net::TcpStream::connect(server.addresses().tls[0]).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stranger.read_to_end(&mut Vec::new()).unwrap();
    let stats = server.stop(Duration::from_secs(1));
    assert_eq!((&stats["connections"]["tls_failed"], &stats["connections"]["open"]), (&1.into(), &0.into()));
}

#[test]
fn unix_sockets_serve_the_same_and_leave_no_file() {
    let path = std::env::temp_dir().join(format!("onrush-server-{}.sock", std::process::id()));
    // A file left over by a process that is gone.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let config = ServerConfig { unix: vec![path.clone()], workers: 2, ..ServerConfig::default() };
    let server = Server::start(config.clone()).unwrap();
    assert_eq!(Server::start(config).err().map(|e| e.kind()), Some(ErrorKind::AddrInUse));
    for _ in 0..4 {
        let mut client = Client::new(UnixStream::connect(&path).unwrap());
        assert_eq!(client.get("/ip").json()["origin"], "unix");
        assert_eq!(client.post("/upload", "", &[0; 100_000]).json()["received"], 100_000);
    }
    drop(server);
    assert!(!path.exists());
}

#[test]
fn stopping_lets_requests_end_and_closes_idle_connections() {
    let server = server(1);
    let (mut idle, mut busy) = (connect(&server), connect(&server));
    assert_eq!(idle.get("/").text(), HELLO);
    busy.send("GET /delay/200ms HTTP/1.1\r\nHost: a\r\n\r\n");
    client::wait_until(|| server.requests() == 2);
    let address = server.addresses().tcp[0];
    let stopping = std::thread::spawn(move || server.stop(PATIENCE));
    idle.assert_closed();
    assert_eq!(busy.answer().header("connection"), Some("close"));
    busy.assert_closed();
    assert_eq!(stopping.join().unwrap()["requests"], 2);
    assert_eq!(std::net::TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn counts_are_exact_over_workers() {
    const CLIENTS: usize = 8;
    const EACH: usize = 200;
    let server = server(2);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = connect(&server);
                for _ in 0..EACH / 4 {
                    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3));
                    (0..3).for_each(|_| assert_eq!(client.answer().text(), HELLO));
                    assert_eq!(client.get("/get").status, 200);
                }
                assert!(client.get("/stats").json()["requests"].as_u64().unwrap() >= EACH as u64);
            });
        }
    });
    let stats = server.stop(Duration::from_secs(1));
    assert_eq!(stats["requests"], CLIENTS * EACH);
    assert_eq!(stats["routes"], serde_json::json!({ "/": CLIENTS * EACH / 4 * 3, "/get": CLIENTS * EACH / 4 }));
    assert_eq!(stats["connections"], serde_json::json!({ "accepted": CLIENTS, "open": 0, "tls_failed": 0 }));
}
