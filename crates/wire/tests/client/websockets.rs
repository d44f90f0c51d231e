//! Websockets of a client over real sockets: what the request says, what an answer may be, messages, cookies, proxies.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use onrush_wire::client::{Ask, Broken, Opening, WebSocket};
use onrush_wire::cookies::CookieJar;
use onrush_wire::settings::Proxies;
use onrush_wire::ws::handshake::Upgrade;
use onrush_wire::ws::{CloseReason, Decoder, DeflateOffer, Encoder, Event, Kind, Role};
use onrush_wire::{Client, ClientContext, Settings, Url};

/// A server for one connection: what `serve` does with the socket and the head it has read.
fn server(serve: impl FnOnce(TcpStream, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = read_head(&mut socket);
        serve(socket, head);
    });
    address
}

fn read_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(socket.read(&mut byte).unwrap(), 1, "the client closed in its head");
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn upgrade_of(head: &str) -> Upgrade {
    let mut room = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut room);
    assert!(request.parse(head.as_bytes()).unwrap().is_complete());
    let headers: Vec<_> = request.headers.iter().map(|h| (h.name, h.value)).collect();
    Upgrade::check(request.method.unwrap(), 1, &headers).unwrap()
}

/// Accepts, sends `first` with the 101, and echoes until a close.
fn echo(mut socket: TcpStream, head: &str, first: &str, extra: &[(&str, &str)]) {
    let upgrade = upgrade_of(head);
    let mut out = Vec::new();
    let agreed = upgrade.answer(upgrade.protocols.first().map(String::as_str), extra.iter().copied(), &mut out);
    let mut encoder = Encoder::new(Role::Server, agreed.deflate);
    let mut decoder = Decoder::new(Role::Server, agreed.deflate, 1 << 24);
    encoder.message(&mut out, Kind::Text, first.as_bytes());
    socket.write_all(&out).unwrap();
    let mut room = vec![0; 1 << 16];
    loop {
        let n = socket.read(&mut room).unwrap();
        let (mut input, mut closed, mut out) = (&room[..n], n == 0, Vec::new());
        while let Some(event) = decoder.next(&mut input).unwrap() {
            match event {
                Event::Text(text) => encoder.message(&mut out, Kind::Text, text.as_bytes()),
                Event::Binary(bytes) => encoder.message(&mut out, Kind::Binary, bytes),
                Event::Ping(payload) => encoder.pong(&mut out, payload),
                Event::Pong(_) => {}
                Event::Close(reason) => {
                    encoder.close(&mut out, reason);
                    closed = true;
                }
            }
        }
        socket.write_all(&out).unwrap();
        if closed {
            return;
        }
    }
}

fn client(settings: Settings) -> Client {
    Client::new(ClientContext::new(Arc::new(settings)).unwrap())
}

fn run<T>(future: impl Future<Output = T>) -> T {
    onrush_wire::event_loop().unwrap().block_on(future)
}

async fn open(client: &Client, address: &str, jar: Option<&CookieJar>, offer: Option<DeflateOffer>) -> Opening {
    let url = Url::parse(&format!("http://{address}/a?b")).unwrap();
    let ask = Ask {
        url: &url,
        headers: &[("X-Mine".into(), "given".into())],
        protocols: &["one".into(), "two".into()],
        deflate: offer,
        timeout: Duration::from_secs(20),
        message_limit: 1 << 24,
    };
    client.open_websocket(&ask, jar).await
}

async fn next(stream: &mut WebSocket) -> Result<Vec<String>, Broken> {
    stream.flush().await.unwrap();
    let mut seen = Vec::new();
    while seen.is_empty() {
        std::future::poll_fn(|cx| stream.poll_receive(cx, |event| seen.push(format!("{event:?}")))).await?;
    }
    Ok(seen)
}

#[test]
fn messages_both_ways() {
    for offer in [None, Some(DeflateOffer::WithoutContext), Some(DeflateOffer::Any)] {
        let address = server(|socket, head| echo(socket, &head, "welcome", &[("Set-Cookie", "crumb=one")]));
        run(async {
            let client = client(Settings::default());
            let jar = CookieJar::default();
            let opening = open(&client, &address, Some(&jar), offer).await;
            assert_eq!(opening.answer.as_ref().unwrap().status, 101);
            assert_eq!(opening.agreed.protocol.as_deref(), Some("one"));
            assert_eq!(opening.agreed.deflate.is_some(), offer.is_some());
            assert!(opening.bytes_sent > 150 && opening.bytes_received > 100 && opening.took > Duration::ZERO);
            assert_eq!(jar.for_url(&Url::parse(&format!("http://{address}/")).unwrap()).len(), 1);
            let mut stream = opening.outcome.unwrap();
            assert_eq!(next(&mut stream).await.unwrap(), ["Text(\"welcome\")"]);
            stream.message(Kind::Text, b"hello");
            stream.ping(b"p");
            assert!(stream.buffered() > 0 && stream.wants_flush());
            let mut seen = next(&mut stream).await.unwrap();
            while seen.len() < 2 {
                seen.extend(next(&mut stream).await.unwrap());
            }
            assert_eq!(seen, ["Text(\"hello\")", "Pong([112])"]);
            let long = "long ".repeat(500_000);
            stream.message(Kind::Text, long.as_bytes());
            assert_eq!(next(&mut stream).await.unwrap(), [format!("{:?}", Event::Text(&long))]);
            stream.close(Some(CloseReason { code: 1000, reason: "" }));
            assert_eq!(next(&mut stream).await.unwrap(), ["Close(Some(CloseReason { code: 1000, reason: \"\" }))"]);
            assert_eq!(next(&mut stream).await, Err(Broken::Network(None)));
            let (sent, received) = stream.take_counts();
            assert!(sent > 20 && received > 20);
        });
    }
}

#[test]
fn what_the_request_says() {
    let (tell, told): (_, Receiver<String>) = channel();
    let address = server(move |socket, head| {
        tell.send(head.clone()).unwrap();
        echo(socket, &head, "x", &[]);
    });
    run(async {
        let client = client(Settings { user_agent: "agent".into(), ..Settings::default() });
        let jar = CookieJar::default();
        jar.set_from_header(&Url::parse(&format!("http://{address}/")).unwrap(), b"a=b");
        open(&client, &address, Some(&jar), Some(DeflateOffer::WithoutContext)).await.outcome.unwrap();
    });
    let head = told.recv().unwrap();
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
    let expected = format!(
        "GET /a?b HTTP/1.1\r\nHost: {address}\r\nUser-Agent: agent\r\nX-Mine: given\r\nUpgrade: \
         websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: one, two\r\n\
         Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n\
         Cookie: a=b\r\n\r\n"
    );
    assert_eq!(head, expected);
}

#[test]
fn answers_that_are_no_upgrade() {
    let table: [(&'static str, u16, &str); 5] = [
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403, "websocket: bad handshake"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", 200, "websocket: bad handshake"),
        (
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            101,
            "websocket: bad handshake: the response does not upgrade to websocket",
        ),
        ("hello\r\n", 0, "malformed HTTP response \"hello\""),
        ("", 0, "EOF"),
    ];
    for (answer, status, message) in table {
        let address = server(move |mut socket, _| socket.write_all(answer.as_bytes()).unwrap());
        let opening = run(async { open(&client(Settings::default()), &address, None, None).await });
        assert_eq!(opening.outcome.unwrap_err().message, message, "{answer:?}");
        assert_eq!(opening.answer.map_or(0, |answer| answer.status), status, "{answer:?}");
    }
}

#[test]
fn a_proxy_opens_a_tunnel() {
    let (tell, told): (_, Receiver<String>) = channel();
    let address = server(move |mut socket, head| {
        tell.send(head).unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let head = read_head(&mut socket);
        echo(socket, &head, "through", &[]);
    });
    run(async {
        let proxies = Proxies { http: Some(format!("http://{address}")), ..Proxies::default() };
        let client = client(Settings { proxies, ..Settings::default() });
        let mut stream = open(&client, "far.test:8080", None, None).await.outcome.unwrap();
        assert_eq!(next(&mut stream).await.unwrap(), ["Text(\"through\")"]);
    });
    assert!(told.recv().unwrap().starts_with("CONNECT far.test:8080 HTTP/1.1\r\n"));
}

#[test]
fn a_server_that_breaks_the_protocol() {
    let address = server(|mut socket, head| {
        let mut out = Vec::new();
        upgrade_of(&head).answer(Some("one"), std::iter::empty(), &mut out);
        out.extend_from_slice(b"\x81\x02ok\x83\x00");
        socket.write_all(&out).unwrap();
        let _until_the_end = socket.read_to_end(&mut Vec::new());
    });
    run(async {
        let client = Rc::new(client(Settings::default()));
        let mut stream = open(&client, &address, None, None).await.outcome.unwrap();
        let mut seen = Vec::new();
        let broken = loop {
            match std::future::poll_fn(|cx| stream.poll_receive(cx, |event| seen.push(format!("{event:?}")))).await {
                Ok(()) => {}
                Err(broken) => break broken,
            }
        };
        assert_eq!(seen, ["Text(\"ok\")"]);
        assert_eq!(broken.message(), "websocket: the frame has a reserved opcode");
    });
}
