//! How connections of HTTP/2 to the target begin and end: prefaces, TLS, unix sockets, faults, goodbyes.

#![allow(clippy::unwrap_used)]

mod h2_client;

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use h2::Reason;
use h2_client::{Client, PATIENCE, plain, request, take, test, until, whole};
use onrush_server::{Server, ServerConfig};
use tokio::net::UnixStream;

#[test]
fn a_server_that_stops_says_so_and_lets_streams_end() {
    test(plain(), async |client, server| {
        let held = client.begin(request("GET", "/delay/200ms"), true).await.0;
        until(|| server.requests() == 1).await;
        let stopped = tokio::task::spawn_blocking(move || server.stop(PATIENCE));
        assert_eq!(whole(held).await.unwrap().status, 200);
        client.end.await.unwrap().unwrap();
        let stats = stopped.await.unwrap();
        assert_eq!((&stats["requests"], &stats["connections"]["open"]), (&1.into(), &0.into()));
        assert!(client.requests.ready().await.is_err());
    });
}

#[test]
fn faults_of_a_stream_leave_the_connection() {
    test(plain(), async |client, server| {
        let error = client.try_ask("GET", "/fault/reset", b"").await.err().unwrap();
        assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
        // Twenty bytes where ten were declared: the client's library refuses them.
        let error = client.try_ask("GET", "/fault/wrong-length", b"").await.err().unwrap();
        assert_eq!(error.reason(), Some(Reason::PROTOCOL_ERROR));
        let (stalled, mut stream) = client.begin(request("GET", "/fault/stall"), true).await;
        assert_eq!(client.get("/fault/slow?rate=1000").await.body, b"slow\n");
        assert_eq!(client.get("/fault/big-header?kb=8").await.headers["x-big"].len(), 8192);
        stream.send_reset(Reason::CANCEL);
        drop(stalled);
        assert_eq!((client.get("/").await.status, server.requests()), (200, 6));
    });
}

#[test]
fn faults_of_the_connection_end_it() {
    for (path, with_head) in
        [("/fault/no-response", false), ("/fault/partial", true), ("/fault/garbage", false), ("/fault/bad-chunk", true)]
    {
        test(plain(), async |client, _server| {
            let response = client.begin(request("GET", path), true).await.0;
            match response.await {
                Ok(response) => {
                    assert!(with_head, "{path} has an answer");
                    let mut body = response.into_body();
                    while let Some(Ok(data)) = body.data().await {
                        take(&mut body, data);
                    }
                    assert!(!body.is_end_stream(), "{path} is whole");
                }
                Err(_) => assert!(!with_head || path == "/fault/bad-chunk", "{path} has no answer"),
            }
            assert!(client.end.await.unwrap().is_err() || path == "/fault/no-response" || path == "/fault/partial");
            assert!(client.requests.ready().await.is_err(), "{path} left the connection");
        });
    }
    test(plain(), async |client, _server| {
        assert_eq!(client.get("/fault/close-idle?after=10ms").await.body, b"closed\n");
        let _ended = client.end.await.unwrap();
    });
}

#[test]
fn unix_sockets_speak_it_too() {
    let path = std::env::temp_dir().join(format!("onrush-h2-{}.sock", std::process::id()));
    test(ServerConfig { unix: vec![path.clone()], ..plain() }, async |_, _server| {
        let client = Client::over(UnixStream::connect(&path).await.unwrap()).await;
        assert_eq!(client.get("/ip").await.json()["origin"], "unix");
    });
}

/// Preface, empty SETTINGS, and GET / in static table entries (RFC 7541, appendix A), on stream 1.
fn by_hand() -> Vec<u8> {
    let head = [&[0x82, 0x84, 0x86, 0x41, 9][..], b"localhost"].concat();
    let frame = [&[0, 0, head.len() as u8, 1, 0x5, 0, 0, 0, 1][..], &head].concat();
    [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0], &frame].concat()
}

fn read_until(socket: &mut impl Read, end: &[u8]) -> Vec<u8> {
    let (mut all, mut room) = (Vec::new(), [0; 1024]);
    while !all.windows(end.len()).any(|w| w == end) {
        let n = socket.read(&mut room).unwrap();
        assert!(n > 0, "closed after {all:?}");
        all.extend_from_slice(&room[..n]);
    }
    all
}

#[test]
fn a_preface_may_come_byte_by_byte() {
    let server = Server::start(plain()).unwrap();
    let mut socket = std::net::TcpStream::connect(server.addresses().tcp[0]).unwrap();
    socket.set_nodelay(true).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    for byte in by_hand() {
        socket.write_all(&[byte]).unwrap();
        std::thread::sleep(Duration::from_micros(200));
    }
    read_until(&mut socket, b"hello from onrush\n");
    assert_eq!(server.requests(), 1);
}

#[test]
fn a_preface_is_one_at_the_begin_alone() {
    let server = Server::start(plain()).unwrap();
    let mut socket = std::net::TcpStream::connect(server.addresses().tcp[0]).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    read_until(&mut socket, b"hello from onrush\n");
    socket.write_all(&by_hand()).unwrap();
    let mut rest = String::new();
    socket.read_to_string(&mut rest).unwrap();
    assert!(rest.starts_with("HTTP/1.1 505 "), "{rest}");
}

#[test]
fn tls_agrees_on_it() {
    let config = ServerConfig { tls: vec!["127.0.0.1:0".parse().unwrap()], ..ServerConfig::default() };
    let server = Server::start(config).unwrap();
    let pem = server.addresses().certificate_pem.as_deref().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls_pki_types::pem::PemObject::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let session = rustls::ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let socket = std::net::TcpStream::connect(server.addresses().tls[0]).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut client = rustls::StreamOwned::new(session, socket);
    client.write_all(&by_hand()).unwrap();
    read_until(&mut client, b"hello from onrush\n");
    assert_eq!(client.conn.alpn_protocol(), Some(&b"h2"[..]));
}
