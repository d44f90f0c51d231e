//! Websockets of the target over real sockets: echo, rooms over several workers, closing, faults, apps, slow clients.

#![allow(clippy::unwrap_used)] // Helpers of tests fail by panicking.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use onrush_server::app::{Answering, Opening, Upgrade};
use onrush_server::ws::{Kind, Message, Socket, SocketHandler};
use onrush_server::{App, AppRequest, Limits, Response, Server, ServerConfig};
use wire::ws::handshake::{check_answer, new_key};
use wire::ws::{CloseReason, Decoder, DeflateOffer, Encoder, Event, Role};

fn serve(workers: usize) -> Server {
    Server::start(ServerConfig { tcp: vec![any()], workers, ..ServerConfig::default() }).unwrap()
}

fn any() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// A client on a blocking socket.
struct Talker {
    socket: TcpStream,
    decoder: Decoder,
    encoder: Encoder,
    read: Vec<u8>,
    at: usize,
}

/// An event that owns its bytes.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Text(String),
    Binary(Vec<u8>),
    Pong(Vec<u8>),
    Close(u16, String),
    /// The server closed the connection.
    End,
}

impl Talker {
    fn open(server: &Server, path: &str) -> Talker {
        Talker::open_with(server, path, "", None)
    }

    fn open_with(server: &Server, path: &str, fields: &str, offer: Option<DeflateOffer>) -> Talker {
        let key = new_key();
        let mut socket = TcpStream::connect(server.addresses().tcp[0]).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let extensions = offer.map_or(String::new(), |o| format!("Sec-WebSocket-Extensions: {}\r\n", o.header()));
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: \
             13\r\n\
             Sec-WebSocket-Key: {key}\r\n{extensions}{fields}\r\n"
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut read = Vec::new();
        let (agreed, at) = loop {
            let mut room = [0; 4096];
            let n = socket.read(&mut room).unwrap();
            assert!(n > 0, "the server closed instead of answering");
            read.extend_from_slice(&room[..n]);
            let mut headers = [httparse::EMPTY_HEADER; 32];
            let mut response = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(len) = response.parse(&read).unwrap() {
                assert_eq!(response.code, Some(101), "{}", String::from_utf8_lossy(&read));
                let headers: Vec<_> = response.headers.iter().map(|h| (h.name, h.value)).collect();
                break (check_answer(&headers, &key, &["chat"], offer).unwrap(), len);
            }
        };
        let decoder = Decoder::new(Role::Client, agreed.deflate, 1 << 26);
        Talker { socket, decoder, encoder: Encoder::new(Role::Client, agreed.deflate), read, at }
    }

    fn write(&mut self, frames: impl FnOnce(&mut Encoder, &mut Vec<u8>)) {
        let mut out = Vec::new();
        frames(&mut self.encoder, &mut out);
        self.socket.write_all(&out).unwrap();
    }

    fn say(&mut self, text: &str) {
        self.write(|encoder, out| encoder.message(out, Kind::Text, text.as_bytes()));
    }

    fn next(&mut self) -> Seen {
        loop {
            let mut input = &self.read[self.at..];
            let before = input.len();
            let seen = self.decoder.next(&mut input).unwrap().map(|event| match event {
                Event::Text(text) => Seen::Text(text.into()),
                Event::Binary(bytes) => Seen::Binary(bytes.into()),
                Event::Ping(_) => panic!("the target does not ping"),
                Event::Pong(payload) => Seen::Pong(payload.into()),
                Event::Close(None) => Seen::Close(1005, String::new()),
                Event::Close(Some(CloseReason { code, reason })) => Seen::Close(code, reason.into()),
            });
            self.at += before - input.len();
            if let Some(seen) = seen {
                return seen;
            }
            self.read.resize(64 * 1024, 0);
            let n = self.socket.read(&mut self.read).unwrap();
            self.read.truncate(n);
            self.at = 0;
            if n == 0 {
                return Seen::End;
            }
        }
    }
}

fn text(text: &str) -> Seen {
    Seen::Text(text.into())
}

#[test]
fn echoes_whatever_comes() {
    let server = serve(1);
    for offer in [None, Some(DeflateOffer::Any), Some(DeflateOffer::WithoutContext)] {
        let mut talker = Talker::open_with(&server, "/ws/echo", "Sec-WebSocket-Protocol: chat\r\n", offer);
        let long = "long ".repeat(100_000);
        talker.write(|encoder, out| {
            encoder.message(out, Kind::Text, b"a");
            encoder.message(out, Kind::Binary, &[0, 255]);
            encoder.ping(out, b"still there");
            encoder.message(out, Kind::Text, long.as_bytes());
            encoder.message(out, Kind::Text, b"");
            encoder.close(out, Some(CloseReason { code: 3001, reason: "done" }));
        });
        let expected =
            [text("a"), Seen::Binary(vec![0, 255]), Seen::Pong(b"still there".into()), text(&long), text("")];
        for seen in expected {
            assert!(talker.next() == seen, "{offer:?}");
        }
        assert_eq!(talker.next(), Seen::Close(3001, String::new()));
        assert_eq!(talker.next(), Seen::End);
    }
    let stats = server.stats();
    assert_eq!(stats["routes"]["/ws/echo"], 3);
    assert_eq!(stats["websockets"]["messages_received"], 12);
    assert_eq!(stats["websockets"]["messages_sent"], 12);
}

#[test]
fn what_comes_with_the_request_is_not_lost() {
    let server = serve(1);
    let mut socket = TcpStream::connect(server.addresses().tcp[0]).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut bytes = b"GET /ws/echo HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: \
        Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        .to_vec();
    let mut encoder = Encoder::new(Role::Client, None);
    encoder.message(&mut bytes, Kind::Text, b"early");
    encoder.close(&mut bytes, None);
    socket.write_all(&bytes).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(b"\r\n\r\n\x81\x05early\x88\x00"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn rooms_reach_over_workers() {
    let server = serve(3);
    // The kernel deals connections out to the workers' listeners: twelve are on several of them.
    let mut members: Vec<Talker> = (0..12).map(|_| Talker::open(&server, "/ws/broadcast/one")).collect();
    let mut alone = Talker::open(&server, "/ws/broadcast/two?self=true");
    // An answered ping says that the server has opened the socket, so that it is in its room.
    for member in &mut members {
        member.write(|encoder, out| encoder.ping(out, b""));
        assert_eq!(member.next(), Seen::Pong(vec![]));
    }
    alone.say("to myself");
    assert_eq!(alone.next(), text("to myself"));
    for round in 0..20 {
        members[round % 12].say(&round.to_string());
        for (index, member) in members.iter_mut().enumerate() {
            if index != round % 12 {
                assert_eq!(member.next(), text(&round.to_string()));
            }
        }
    }
    let gone = members.pop().unwrap();
    drop(gone);
    members[0].say("still");
    assert!(members[1..].iter_mut().all(|member| member.next() == text("still")));
    assert_eq!(server.stats()["websockets"]["messages_dropped"], 0);
}

/// What a route that holds told: message, in, out.
fn told(seen: Seen) -> Vec<u64> {
    let Seen::Text(text) = seen else { panic!("{seen:?}") };
    serde_json::from_str(&text).unwrap()
}

#[test]
fn messages_are_held_beside_each_other_and_their_stamps_tell_how_long() {
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_micros() as u64;
    let server = serve(1);
    let mut talker = Talker::open(&server, "/ws/hold/30ms");
    let began = now();
    talker.write(|encoder, out| {
        (0..20).for_each(|number: u64| encoder.message(out, Kind::Text, number.to_string().as_bytes()));
    });
    let all: Vec<Vec<u64>> = (0..20).map(|_| told(talker.next())).collect();
    for (number, one) in all.iter().enumerate() {
        let [sent, came, went] = one[..] else { panic!("{one:?}") };
        assert_eq!(sent, number as u64);
        assert!(came >= began && went - came >= 29_990 && went <= now(), "{one:?}");
    }
    assert!(all[19][1] < all[0][2], "one after the other: {all:?}");
    // Bytes that are no JSON come back all the same.
    talker.write(|encoder, out| encoder.message(out, Kind::Binary, b"\0"));
    assert!(matches!(talker.next(), Seen::Binary(bytes) if bytes.starts_with(b"[\0,")));
    let mut greedy = Talker::open(&server, "/ws/hold/60s");
    (0..17).for_each(|_| greedy.say(&"x".repeat(1 << 20)));
    assert_eq!(greedy.next(), Seen::Close(1009, "more than 16 MiB are being held".into()));
}

#[test]
fn closes_and_faults() {
    let server = serve(1);
    let mut talker = Talker::open(&server, "/ws/close/4001?reason=because");
    assert_eq!(talker.next(), Seen::Close(4001, "because".into()));
    talker.write(|encoder, out| encoder.close(out, None));
    assert_eq!(talker.next(), Seen::End);
    assert_eq!(Talker::open(&server, "/ws/fault/drop").next(), Seen::End);
    assert_eq!(Talker::open(&server, "/ws/fault/mid-message").next(), Seen::End);
    let mut flood = Talker::open(&server, "/ws/fault/flood?count=50000&size=300");
    let message = text(&"x".repeat(300));
    assert!((0..50_000).all(|_| flood.next() == message));
    assert_eq!(flood.next(), Seen::Close(1000, String::new()));
}

#[test]
fn violations_close_with_their_code() {
    let server = serve(1);
    for (bytes, code) in [(&b"\x83\x80\0\0\0\0"[..], 1002), (b"\x81\x81\0\0\0\0\xff", 1007), (b"\x81\x01x", 1002)] {
        let mut talker = Talker::open(&server, "/ws/echo");
        talker.socket.write_all(bytes).unwrap();
        assert!(matches!(talker.next(), Seen::Close(found, _) if found == code), "{bytes:02x?}");
        assert_eq!(talker.next(), Seen::End);
    }
}

#[test]
fn requests_that_are_no_upgrade() {
    let server = serve(1);
    let ask = |head: &str| {
        let mut socket = TcpStream::connect(server.addresses().tcp[0]).unwrap();
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    let plain = ask("GET /ws/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert!(plain.starts_with("HTTP/1.1 426 Upgrade Required\r\n"), "{plain}");
    assert!(plain.contains("\r\nSec-WebSocket-Version: 13\r\n"), "{plain}");
    let code = "GET /ws/close/1005 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert!(ask(code).starts_with("HTTP/1.1 400 "));
}

#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let server = serve(1);
    let mut talker = Talker::open(&server, "/ws/echo");
    talker.socket.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut frame = Vec::new();
    talker.encoder.message(&mut frame, Kind::Binary, &[7; 64 * 1024]);
    let mut sent = 0u64;
    // Ends when both directions are full, which they would never be if the server went on reading.
    while sent < 1 << 30 {
        match talker.socket.write(&frame) {
            Ok(n) if n == frame.len() => sent += 1,
            _ => break,
        }
    }
    assert!(sent * 64 * 1024 < 1 << 30, "the server takes what it cannot get rid of");
}

#[test]
fn a_server_that_stops_says_goodbye() {
    let server = serve(2);
    let mut talkers: Vec<Talker> = (0..4).map(|_| Talker::open(&server, "/ws/echo")).collect();
    for talker in &mut talkers {
        talker.say("x");
        assert_eq!(talker.next(), text("x"));
    }
    let stopping = std::thread::spawn(move || server.stop(Duration::from_secs(20)));
    for talker in &mut talkers {
        assert_eq!(talker.next(), Seen::Close(1001, String::new()));
        talker.write(|encoder, out| encoder.close(out, None));
        assert_eq!(talker.next(), Seen::End);
    }
    assert_eq!(stopping.join().unwrap()["websockets"]["open"], 0);
}

#[test]
fn limits_of_requests_are_none_of_websockets() {
    let moment = Duration::from_millis(100);
    let limits = Limits { head_time: moment, body_time: moment, idle_time: moment, ..Limits::default() };
    let server = Server::start(ServerConfig { tcp: vec![any()], limits, ..ServerConfig::default() }).unwrap();
    let mut talker = Talker::open(&server, "/ws/echo");
    // Several sweeps, each of which would close a connection that waits for a request.
    std::thread::sleep(12 * moment);
    talker.say("still here");
    assert_eq!(talker.next(), text("still here"));
}

/// Answers requests, and upgrades those to `/chat`.
struct Chat;

struct ChatSocket;

impl SocketHandler for ChatSocket {
    fn open(&self, socket: &Socket) {
        socket.subscribe("all");
        socket.send(Kind::Text, format!("welcome {}", socket.protocol().unwrap_or("nobody")).as_bytes());
    }

    fn message(&self, socket: &Socket, message: Message<'_>) {
        match message {
            Message::Text("bye") => drop(socket.close(4000, "as you wish")),
            message => socket.publish("all", message.kind(), message.bytes()),
        }
    }

    fn close(&self, socket: &Socket, code: u16, _: &str) {
        assert!(!socket.is_open() && !socket.send(Kind::Text, b"too late"));
        assert_eq!(code, 4000);
    }
}

impl App for Chat {
    fn fetch(&self, _: AppRequest) -> Answering {
        Box::pin(async { Ok(Response::text(200, "plain\n")) })
    }

    fn accepts_websockets(&self) -> bool {
        true
    }

    fn websocket(&self, request: &AppRequest, upgrade: Upgrade) -> Option<Opening> {
        let protocol = upgrade.protocols.first().cloned();
        (request.target() == "/chat")
            .then(|| Opening::new(upgrade, Rc::new(ChatSocket)).protocol(protocol).header("X-A", "b"))
    }
}

#[test]
fn apps_have_websockets_too() {
    let config = ServerConfig {
        tcp: vec![any()],
        app: Some(Arc::new(|| Ok(Rc::new(Chat) as Rc<dyn App>))),
        ..ServerConfig::default()
    };
    let server = Server::start(config).unwrap();
    let mut one = Talker::open_with(&server, "/chat", "Sec-WebSocket-Protocol: chat\r\n", None);
    let mut two = Talker::open(&server, "/chat");
    assert_eq!((one.next(), two.next()), (text("welcome chat"), text("welcome nobody")));
    one.say("hello");
    assert_eq!(two.next(), text("hello"));
    two.say("bye");
    assert_eq!(two.next(), Seen::Close(4000, "as you wish".into()));
    two.write(|encoder, out| encoder.close(out, Some(CloseReason { code: 4000, reason: "" })));
    assert_eq!(two.next(), Seen::End);
    let mut socket = TcpStream::connect(server.addresses().tcp[0]).unwrap();
    let upgrade = "GET /other HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: close, Upgrade\r\n\r\n";
    socket.write_all(upgrade.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("plain\n"), "{answer}");
}
