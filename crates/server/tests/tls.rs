//! TLS at the server's end over real sockets: hostile bytes, ends of either side, records in any pieces, slow readers.
//!
//! The clients here drive rustls by hand, so that what is on the wire, and when, is in the hands of the test.

#![allow(clippy::unwrap_used)]

mod client;
mod function_app;

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use client::{Client, PATIENCE, wait_until};
use onrush_server::app::RequestBody;
use onrush_server::{AppRequest, Body, Limits, PieceStream, Response, Server, ServerConfig};
use rustls::{AlertDescription, ClientConfig, ClientConnection, Error, HandshakeKind, StreamOwned};

const CLOSE_NOTIFY: &[u8] = &[21, 3, 3, 0, 2, 1, 0];

fn any() -> Vec<std::net::SocketAddr> {
    vec!["127.0.0.1:0".parse().unwrap()]
}

fn server() -> Server {
    Server::start(ServerConfig { tls: any(), ..ServerConfig::default() }).unwrap()
}

fn socket(server: &Server) -> TcpStream {
    let socket = TcpStream::connect(server.addresses().tls[0]).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

fn trusting(server: &Server, versions: &[&'static rustls::SupportedProtocolVersion]) -> ClientConfig {
    let pem = server.addresses().certificate_pem.as_deref().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls_pki_types::pem::PemObject::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    builder.with_root_certificates(roots).with_no_client_auth()
}

fn session(config: ClientConfig) -> ClientConnection {
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

/// A connection whose handshake is through.
fn connect(server: &Server) -> (ClientConnection, TcpStream) {
    let (mut session, mut socket) = (session(trusting(server, rustls::ALL_VERSIONS)), socket(server));
    while session.is_handshaking() {
        session.complete_io(&mut socket).unwrap();
    }
    (session, socket)
}

fn joined((session, socket): (ClientConnection, TcpStream)) -> Client<StreamOwned<ClientConnection, TcpStream>> {
    Client::new(StreamOwned::new(session, socket))
}

/// The records of what was written to a session.
fn records(session: &mut ClientConnection, content: &[u8]) -> Vec<u8> {
    session.set_buffer_limit(None);
    session.writer().write_all(content).unwrap();
    let mut records = Vec::new();
    while session.wants_write() {
        session.write_tls(&mut records).unwrap();
    }
    records
}

/// Receives until the session has what the test waits for.
fn receive_until(session: &mut ClientConnection, socket: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut seen = Vec::new();
    while !seen.windows(end.len()).any(|window| window == end) {
        assert!(session.read_tls(socket).unwrap() > 0, "closed after {:?}", String::from_utf8_lossy(&seen));
        let state = session.process_new_packets().unwrap();
        let mut content = vec![0; state.plaintext_bytes_to_read()];
        session.reader().read_exact(&mut content).unwrap();
        seen.extend_from_slice(&content);
    }
    seen
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const HELLO: &[u8] = b"hello from onrush\n";

#[test]
fn what_is_no_handshake_gets_its_alert_and_the_end() {
    const DECODE_ERROR: &[u8] = &[21, 3, 3, 0, 2, 2, 50];
    const UNEXPECTED_MESSAGE: &[u8] = &[21, 3, 3, 0, 2, 2, 10];
    let oversized = [b"\x16\x03\x01\xff\xff".as_slice(), &[b'a'; 100]].concat();
    let endless = [b"\x16\x03\x01\x40\x00\x01\xff\xff\xff".as_slice(), &[b'a'; (16 << 10) - 4]].concat();
    let rows: [(&str, &[u8], &[u8]); 11] = [
        ("a request without TLS", b"GET / HTTP/1.1\r\n\r\n", DECODE_ERROR),
        ("zeros", &[0; 64], DECODE_ERROR),
        ("a record above the limit", &oversized, DECODE_ERROR),
        ("a hello that is none", b"\x16\x03\x01\x00\x08\x01\x00\x00\x04abcd", DECODE_ERROR),
        ("a message above the limit", &endless, b""),
        ("content before the handshake", b"\x17\x03\x03\x00\x05hello", UNEXPECTED_MESSAGE),
        ("a change of ciphers first", b"\x14\x03\x03\x00\x01\x01", UNEXPECTED_MESSAGE),
        ("a fatal alert", b"\x15\x03\x03\x00\x02\x02\x28", b""),
        ("a goodbye", CLOSE_NOTIFY, b""),
        ("the begin of a hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b""),
        ("nothing", b"", b""),
    ];
    let server = server();
    for (number, (what, bytes, answer)) in rows.into_iter().enumerate() {
        let mut socket = socket(&server);
        socket.write_all(bytes).unwrap();
        if answer.is_empty() {
            socket.shutdown(Shutdown::Write).unwrap();
        }
        let mut seen = Vec::new();
        // A reset is an end too: the server did not read all.
        if let Err(e) = socket.read_to_end(&mut seen) {
            assert_eq!(e.kind(), ErrorKind::ConnectionReset, "{what}");
        }
        assert_eq!(seen, answer, "{what}");
        wait_until(|| server.stats()["connections"]["tls_failed"] == number + 1);
    }
    wait_until(|| server.stats()["connections"]["open"] == 0);
    assert_eq!(joined(connect(&server)).get("/").body, HELLO);
}

#[test]
fn who_never_begins_the_handshake_is_told_that_it_is_over() {
    let limits = Limits { head_time: Duration::from_millis(60), ..Limits::default() };
    let server = Server::start(ServerConfig { tls: any(), limits, ..ServerConfig::default() }).unwrap();
    let mut seen = Vec::new();
    socket(&server).read_to_end(&mut seen).unwrap();
    assert_eq!(seen, CLOSE_NOTIFY);
    assert_eq!(server.stats()["connections"]["tls_failed"], 1);
}

#[test]
fn a_record_that_was_changed_ends_the_connection_with_an_alert() {
    let server = server();
    let (mut session, mut socket) = connect(&server);
    let good = records(&mut session, GET);
    socket.write_all(&good).unwrap();
    assert!(receive_until(&mut session, &mut socket, HELLO).starts_with(b"HTTP/1.1 200 OK\r\n"));
    let mut bad = records(&mut session, GET);
    *bad.last_mut().unwrap() ^= 1;
    socket.write_all(&bad).unwrap();
    session.read_tls(&mut socket).unwrap();
    let error = session.process_new_packets().unwrap_err();
    assert_eq!(error, Error::AlertReceived(AlertDescription::BadRecordMac));
    wait_until(|| server.stats()["connections"]["open"] == 0);
    assert_eq!(server.stats()["connections"]["tls_failed"], 0);
}

#[test]
fn protocols_are_agreed_on_or_refused() {
    let server = server();
    let offered: [(&[&str], Option<&[u8]>); 5] = [
        (&[], None),
        (&["http/1.1"], Some(b"http/1.1")),
        (&["h2"], Some(b"h2")),
        (&["http/1.1", "h2"], Some(b"h2")),
        (&["spdy/3", "http/1.1"], Some(b"http/1.1")),
    ];
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let shaken = |offer: &[&str]| {
            let mut config = trusting(&server, &[version]);
            config.alpn_protocols = offer.iter().map(|name| name.as_bytes().to_vec()).collect();
            let (mut session, mut socket) = (session(config), socket(&server));
            session.complete_io(&mut socket).map(|_| session.alpn_protocol().map(<[u8]>::to_vec))
        };
        for (offer, chosen) in offered {
            assert_eq!(shaken(offer).unwrap().as_deref(), chosen, "{offer:?}");
        }
        let error = shaken(&["spdy/3"]).unwrap_err();
        assert_eq!(error.to_string(), "received fatal alert: NoApplicationProtocol");
    }
}

#[test]
fn sessions_are_resumed_in_both_versions() {
    let server = server();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let config = Arc::new(trusting(&server, &[version]));
        let kinds = [(); 2].map(|()| {
            let session = ClientConnection::new(config.clone(), "localhost".try_into().unwrap()).unwrap();
            let mut client = joined((session, socket(&server)));
            assert_eq!(client.get_with("/", "Connection: close\r\n").body, HELLO);
            client.assert_closed();
            client.socket.conn.handshake_kind()
        });
        assert_eq!(kinds, [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)]);
    }
}

#[test]
fn records_may_come_in_pieces_of_any_size() {
    let server = server();
    for size in [1, 7, 1000] {
        let (mut session, mut socket) = (session(trusting(&server, rustls::ALL_VERSIONS)), socket(&server));
        let send = |bytes: &[u8], socket: &mut TcpStream| {
            for piece in bytes.chunks(size) {
                socket.write_all(piece).unwrap();
                // Each piece is to be a segment of its own, most of the time.
                if size < 100 && bytes.len() < 1000 {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        };
        while session.is_handshaking() {
            let mut flight = Vec::new();
            session.write_tls(&mut flight).unwrap();
            send(&flight, &mut socket);
            if session.is_handshaking() {
                session.read_tls(&mut socket).unwrap();
                session.process_new_packets().unwrap();
            }
        }
        let head = b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n";
        let upload = [&records(&mut session, head)[..], &records(&mut session, &[7; 40_000])].concat();
        send(&upload, &mut socket);
        receive_until(&mut session, &mut socket, b"\"received\": 40000");
    }
}

#[test]
fn the_finished_message_may_bring_requests_along() {
    let server = server();
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let (mut session, mut socket) = (session(trusting(&server, &[version])), socket(&server));
        // Written before the handshake is through, so it leaves as soon as it may.
        session.writer().write_all(&GET.repeat(3)).unwrap();
        while session.is_handshaking() {
            session.complete_io(&mut socket).unwrap();
        }
        session.writer().write_all(b"GET /bytes/3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        let mut client = joined((session, socket));
        for _ in 0..3 {
            assert_eq!(client.answer().body, HELLO);
        }
        assert_eq!(client.answer().body.len(), 3);
        client.assert_closed();
    }
}

#[test]
fn keys_may_change_within_a_connection() {
    let server = server();
    let (session, socket) = connect(&server);
    let mut client = joined((session, socket));
    for _ in 0..3 {
        client.socket.conn.refresh_traffic_keys().unwrap();
        assert_eq!(client.post("/upload", "", &[1; 50_000]).json()["received"], 50_000);
        assert_eq!(client.get("/bytes/50000").body.len(), 50_000);
    }
}

#[test]
fn a_client_that_said_goodbye_still_gets_its_answer() {
    let server = server();
    let (mut session, mut socket) = connect(&server);
    session.writer().write_all(b"GET /delay/30ms HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    session.send_close_notify();
    let goodbye = records(&mut session, b"");
    socket.write_all(&goodbye).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut client = joined((session, socket));
    assert_eq!(client.answer().status, 200);
    wait_until(|| server.stats()["connections"]["open"] == 0);
}

#[test]
fn an_end_within_a_body_is_the_same_with_and_without_a_goodbye() {
    let app = |request: AppRequest| async move {
        let mut body = request.body;
        let mut length = 0;
        while let Some(piece) = body.next().await {
            length += piece.map_err(|e| format!("after {length}: {e}"))?.len();
        }
        Ok(Response::new(200, "text/plain", Body::Bytes(length.to_string().into())))
    };
    let server = Server::start(ServerConfig { tls: any(), ..function_app::config(app) }).unwrap();
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n";
    for end in ["goodbye", "fin", "within a record"] {
        let (mut session, mut socket) = connect(&server);
        let mut bytes = [records(&mut session, head), records(&mut session, &[1; 20_000])].concat();
        match end {
            "goodbye" => {
                session.send_close_notify();
                bytes.extend(records(&mut session, b""));
            }
            "within a record" => bytes.extend_from_slice(&records(&mut session, &[1; 9000])[..5000]),
            _ => {}
        }
        socket.write_all(&bytes).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let answer = joined((session, socket)).answer();
        let detail = "after 20000: the connection ended within the request body: the client closed it";
        assert_eq!((answer.status, answer.json()["detail"].as_str()), (500, Some(detail)), "{end}");
    }
    wait_until(|| server.stats()["connections"]["open"] == 0);
    assert_eq!(server.stats()["buffers"]["in_use"], 0);
}

#[test]
fn an_app_is_told_that_a_record_within_a_body_was_changed() {
    let app = |request: AppRequest| async move {
        let mut body = request.body;
        while let Some(piece) = body.next().await {
            piece.map_err(|e| e.to_string())?;
        }
        Ok(Response::text(200, "whole"))
    };
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = seen.clone();
    let noting = move |request: AppRequest| {
        let (answer, told) = (app(request), told.clone());
        async move {
            let answer = answer.await;
            told.lock().unwrap().extend(answer.as_ref().err().cloned());
            answer
        }
    };
    let server = Server::start(ServerConfig { tls: any(), ..function_app::config(noting) }).unwrap();
    let (mut session, mut socket) = connect(&server);
    socket.write_all(&records(&mut session, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")).unwrap();
    wait_until(|| server.requests() == 1);
    let mut bad = records(&mut session, b"123456789");
    *bad.last_mut().unwrap() ^= 1;
    socket.write_all(&bad).unwrap();
    wait_until(|| server.stats()["connections"]["open"] == 0);
    let why = "the connection ended within the request body: cannot decrypt peer's message";
    assert_eq!(*seen.lock().unwrap(), [why]);
}

/// Gives back what it gets, as it comes.
struct Echo(RefCell<RequestBody>);

impl PieceStream for Echo {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        self.0.get_mut().poll_next(cx).map(|piece| piece.map(|p| p.map(|p| p.into_bytes()).map_err(|e| e.to_string())))
    }
}

/// The same, with a task of its own for reading: what it has read waits for whoever writes.
async fn echo_read_ahead(request: AppRequest) -> Result<Response, String> {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::task::spawn_local(async move {
        let mut body = request.body;
        while let Some(Ok(piece)) = body.next().await {
            let _gone = sender.send(piece.into_bytes());
        }
    });
    struct Received(tokio::sync::mpsc::UnboundedReceiver<Bytes>);
    impl PieceStream for Received {
        fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
            self.0.poll_recv(cx).map(|piece| piece.map(Ok))
        }
    }
    Ok(Response::new(200, "text/plain", Body::stream(Received(receiver))))
}

/// Sends everything before it reads anything, slowly enough for the server to be full in both directions.
fn sends_all_then_reads(server: &Server, size: usize) {
    let (mut session, mut socket) = connect(server);
    let body: Vec<u8> = (0..size).map(|i| (i / 3) as u8).collect();
    let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n");
    let bytes = [records(&mut session, head.as_bytes()), records(&mut session, &body)].concat();
    let mut sending = socket.try_clone().unwrap();
    let sender = std::thread::spawn(move || sending.write_all(&bytes).unwrap());
    std::thread::sleep(Duration::from_millis(150));
    let mut client = Client::new(StreamOwned::new(session, socket.try_clone().unwrap()));
    let answer = client.answer();
    assert!(answer.body == body, "{} of {size} bytes", answer.body.len());
    sender.join().unwrap();
    socket.flush().unwrap();
}

#[test]
fn reading_goes_on_while_writing_waits() {
    let server = Server::start(ServerConfig { tls: any(), ..function_app::config(echo_read_ahead) }).unwrap();
    sends_all_then_reads(&server, 24 << 20);
    let straight = |request: AppRequest| async move {
        let body = Body::stream(Echo(RefCell::new(request.body)));
        Ok(Response::new(200, "text/plain", body))
    };
    let server = Server::start(ServerConfig { tls: any(), ..function_app::config(straight) }).unwrap();
    sends_all_then_reads(&server, 24 << 20);
}

#[test]
fn who_reads_slowly_holds_up_the_stream_and_gets_all_of_it() {
    struct Counting(Arc<std::sync::atomic::AtomicUsize>);
    impl PieceStream for Counting {
        fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
            let piece = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Poll::Ready((piece < 1000).then(|| Ok(Bytes::from(vec![piece as u8; 64 << 10]))))
        }
    }
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = asked.clone();
    let app = move |_: AppRequest| {
        let count = count.clone();
        async move { Ok(Response::new(200, "text/plain", Body::stream(Counting(count)))) }
    };
    let server = Server::start(ServerConfig { tls: any(), ..function_app::config(app) }).unwrap();
    let (mut session, mut socket) = connect(&server);
    socket.write_all(&records(&mut session, GET)).unwrap();
    let settled = Rc::new(std::cell::Cell::new(0));
    wait_until(|| {
        std::thread::sleep(Duration::from_millis(50));
        let now = asked.load(std::sync::atomic::Ordering::SeqCst);
        now > 0 && settled.replace(now) == now
    });
    // 64 MB are to be sent; the kernel's buffers take a few.
    assert!(settled.get() < 500, "{} pieces were asked for", settled.get());
    let body = joined((session, socket)).answer().body;
    assert_eq!(body.len(), 1000 * (64 << 10));
    assert!(body.chunks(64 << 10).enumerate().all(|(piece, bytes)| bytes.iter().all(|byte| *byte == piece as u8)));
}

#[test]
fn websockets_echo_large_messages() {
    let server = server();
    let mut client = joined(connect(&server));
    client.send(
        "GET /ws/echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    assert!(client.until("\r\n\r\n").starts_with("HTTP/1.1 101 "));
    for size in [1_u64, 70_000, 1 << 20] {
        let payload: Vec<u8> = (0..size).map(|i| i as u8).collect();
        // Binary, masked with zeros.
        let length = if size < 126 { vec![0x80 | size as u8] } else { [&[0xff], &size.to_be_bytes()[..]].concat() };
        let head = [&[0x82], &length[..], &[0; 4]].concat();
        client.send([&head[..], &payload].concat());
        let head = client.exactly(2);
        let length = match head[1] {
            126 => client.exactly(2),
            127 => client.exactly(8),
            short => vec![short],
        };
        let length = length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
        assert_eq!((head[0], length), (0x82, size));
        assert!(client.exactly(size as usize) == payload, "{size} bytes");
    }
}
