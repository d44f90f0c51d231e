//! Apps in Rust over real sockets: bodies that are pulled, memory that comes back, ends of either side.

#![allow(clippy::unwrap_used)]

mod client;
mod function_app;

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::io::{ErrorKind, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use client::{Client, PATIENCE, connect, wait_until};
use function_app::config;
use onrush_server::app::{Answering, BodyError, PieceBuffer, RequestBody, Version};
use onrush_server::{App, AppRequest, Body, Buffers, Limits, PieceStream, Response, Server, ServerConfig};
use serde_json::json;

const TEXT: &str = "text/plain";
const MIB: usize = 1024 * 1024;

fn serve<F, A>(handler: F) -> Server
where
    F: Fn(AppRequest) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<Response, String>> + 'static,
{
    Server::start(config(handler)).unwrap()
}

async fn whole(mut body: RequestBody) -> Result<Vec<u8>, BodyError> {
    let mut all = Vec::new();
    while let Some(piece) = body.next().await {
        all.extend_from_slice(&piece?);
    }
    Ok(all)
}

/// Answers what it got: the head as JSON, without a body; otherwise the body.
async fn mirror(request: AppRequest) -> Result<Response, String> {
    if request.target() == "/fail" {
        return Err("it failed".to_owned());
    }
    if request.method() == "GET" {
        let headers = request.headers().map(|(n, v)| (n.to_owned(), String::from_utf8_lossy(v).into()));
        let headers: serde_json::Map<_, _> = headers.collect();
        assert_eq!(request.version(), Version::Http11);
        return Ok(Response::json(
            200,
            &json!({ "method": request.method(), "url": request.url(), "headers": headers }),
        ));
    }
    let all = whole(request.body).await.map_err(|e| e.to_string())?;
    Ok(Response::new(200, TEXT, Body::Bytes(all)))
}

/// Sends pieces back as they come.
struct Back(RequestBody);

impl PieceStream for Back {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        let next = self.0.poll_next(cx);
        next.map(|piece| piece.map(|piece| piece.map(|p| p.into_bytes()).map_err(|e| e.to_string())))
    }
}

async fn echo(request: AppRequest) -> Result<Response, String> {
    Ok(Response::new(200, TEXT, Body::stream(Back(request.body))))
}

/// Different everywhere, so that misplaced bytes show.
fn noise(size: usize) -> Vec<u8> {
    (0..size as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in body.chunks(size) {
        write!(out, "{:x}\r\n", chunk.len()).unwrap();
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn requests_reach_the_app_whole() {
    let server = serve(mirror);
    let mut client = connect(&server);
    let answer = client.get_with("/a?b=c", "X-One: 1\r\n").json();
    assert_eq!((answer["method"].as_str(), answer["url"].as_str()), (Some("GET"), Some("http://localhost/a?b=c")));
    assert_eq!(answer["headers"], json!({ "Host": "localhost", "X-One": "1" }));
    for size in [1, 100, 65_536, 3 * MIB + 5] {
        assert!(client.post("/", TEXT, &noise(size)).body == noise(size), "{size} bytes");
    }
    let answer = client.get("/fail");
    assert_eq!((answer.status, answer.json()["detail"].as_str()), (500, Some("it failed")));
    assert_eq!(client.get("/").status, 200);
    assert_eq!(server.requests(), 7);
    assert_eq!(server.stats()["body_bytes_received"], 1 + 100 + 65_536 + 3 * MIB + 5);
    assert_eq!(client.get("/stats").json()["requests"], 7);
}

#[test]
fn chunks_of_every_size_come_out_as_they_were() {
    let server = serve(mirror);
    let mut client = connect(&server);
    let body = noise(300_000);
    for size in [1, 2, 7, 100, 4000, 16_384, 65_536, 100_000, 300_000] {
        client.send([CHUNKED.as_bytes(), &chunked(&body, size), b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"].concat());
        assert!(client.answer().body == body, "chunks of {size}");
        assert_eq!(client.answer().json()["url"], "http://a/next");
    }
}

#[test]
fn a_body_is_sent_back_while_it_is_received() {
    let server = serve(echo);
    let mut client = connect(&server);
    client.send(CHUNKED);
    let mut seen = String::new();
    for word in ["one", "three"] {
        client.send(format!("{:x}\r\n{word}\r\n", word.len()));
        seen += &client.until(word);
    }
    client.send("0\r\n\r\n");
    seen += &client.until("0\r\n\r\n");
    assert!(seen.contains("Transfer-Encoding: chunked") && seen.ends_with("three\r\n0\r\n\r\n"), "{seen}");
    assert_eq!(server.stats()["buffers"]["in_use"], 0);
}

static RELEASED: AtomicBool = AtomicBool::new(false);

#[test]
fn an_app_that_does_not_read_blocks_the_client_and_holds_no_memory() {
    let server = serve(|request: AppRequest| async move {
        let mut body = request.body;
        let first = body.next().await.ok_or("no body")?.map_err(|e| e.to_string())?.len();
        while !RELEASED.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let rest = whole(body).await.map_err(|e| e.to_string())?.len();
        Ok(Response::json(200, &json!({ "first": first, "rest": rest })))
    });
    let mut client = connect(&server);
    let size = 32 * MIB;
    client.socket.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n"));
    let body = noise(size);
    let mut sent = 0;
    let blocked = loop {
        match client.socket.write(&body[sent..]) {
            Ok(n) => sent += n,
            Err(e) => break e.kind(),
        }
    };
    assert_eq!(blocked, ErrorKind::WouldBlock);
    let stats = server.stats();
    assert!(stats["bytes_received"].as_u64().unwrap() <= 128 * 1024, "read ahead: {stats}");
    assert!(sent < size / 2, "the kernel's buffers took {sent}");
    RELEASED.store(true, Ordering::Relaxed);
    client.socket.set_write_timeout(Some(PATIENCE)).unwrap();
    client.send(&body[sent..]);
    let answer = client.answer().json();
    assert_eq!(answer["first"].as_u64().unwrap() + answer["rest"].as_u64().unwrap(), size as u64);
    let stats = server.stats();
    assert_eq!(stats["buffers"]["in_use"], 0);
    assert!(stats["buffers"]["allocated"].as_u64().unwrap() <= 3, "{stats}");
    assert!(stats["buffers"]["reused"].as_u64().unwrap() >= 500, "{stats}");
}

#[test]
fn pieces_the_app_keeps_are_not_overwritten() {
    thread_local!(static KEPT: RefCell<Vec<onrush_server::app::Piece>> = const { RefCell::new(Vec::new()) });
    let server = serve(|request: AppRequest| async move {
        if request.target() == "/kept" {
            let kept: Vec<Bytes> = KEPT.take().into_iter().map(|piece| piece.into_bytes()).collect();
            return Ok(Response::new(200, TEXT, Body::Array(kept)));
        }
        let mut body = request.body;
        while let Some(piece) = body.next().await {
            KEPT.with_borrow_mut(|kept| kept.push(piece.unwrap()));
        }
        Ok(Response::empty(204))
    });
    let mut client = connect(&server);
    let bodies: Vec<Vec<u8>> = (0..5).map(|i| noise(200_000 + i).into_iter().map(|b| b ^ i as u8).collect()).collect();
    for body in &bodies {
        assert_eq!(client.post("/", TEXT, body).status, 204);
    }
    assert!(server.stats()["buffers"]["in_use"].as_u64().unwrap() >= 16);
    assert!(client.get("/kept").body == bodies.concat());
    client.get("/kept");
    assert_eq!(server.stats()["buffers"]["in_use"], 0);
}

#[test]
fn without_reuse_every_piece_is_fresh() {
    let buffers = Buffers { receive_size: Some(16 * 1024), reuse: false };
    let server = Server::start(ServerConfig { buffers, ..config(mirror) }).unwrap();
    let mut client = connect(&server);
    assert_eq!(client.post("/", TEXT, &noise(MIB)).body.len(), MIB);
    let stats = server.stats();
    assert!(stats["buffers"]["allocated"].as_u64().unwrap() >= 64, "{stats}");
    assert_eq!(stats["buffers"]["reused"], 0);
}

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

/// Recycles its own memory.
#[derive(Clone, Default)]
struct Recycling(Rc<RefCell<Vec<Own>>>);

struct Own(Box<[u8]>);

impl PieceBuffer for Own {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl App for Recycling {
    fn fetch(&self, mut request: AppRequest) -> Answering {
        let own = self.0.clone();
        Box::pin(async move {
            let mut sum = 0u64;
            while let Some(piece) = request.body.next().await {
                let (buffer, range) =
                    piece.map_err(|e| e.to_string())?.into_buffer().map_err(|_| "a foreign buffer")?;
                let buffer: Box<Own> = buffer.into_any().downcast().map_err(|_| "another type")?;
                sum += buffer.0[range].iter().map(|b| u64::from(*b)).sum::<u64>();
                own.borrow_mut().push(*buffer);
            }
            Ok(Response::json(200, &sum.into()))
        })
    }

    fn allocates(&self) -> bool {
        true
    }

    fn allocate(&self, size: usize) -> Option<Box<dyn PieceBuffer>> {
        let recycled = self.0.borrow_mut().pop();
        Some(Box::new(recycled.unwrap_or_else(|| {
            ALLOCATED.fetch_add(1, Ordering::Relaxed);
            assert!(size <= 64 * 1024);
            Own(vec![0; 32 * 1024].into())
        })))
    }
}

#[test]
fn the_socket_reads_into_memory_of_the_app() {
    let app: onrush_server::AppFactory = Arc::new(|| Ok(Rc::new(Recycling::default())));
    let server = Server::start(ServerConfig { app: Some(app), ..config(mirror) }).unwrap();
    let mut client = connect(&server);
    let body = noise(2 * MIB);
    let sum: u64 = body.iter().map(|b| u64::from(*b)).sum();
    for _ in 0..3 {
        assert_eq!(client.post("/", TEXT, &body).json(), sum);
        client.send([CHUNKED.as_bytes(), &chunked(&body, 50_000)].concat());
        assert_eq!(client.answer().json(), sum);
    }
    assert_eq!(ALLOCATED.load(Ordering::Relaxed), 1);
    assert_eq!(server.stats()["buffers"]["allocated"], 0);
}

#[test]
fn the_interim_response_comes_when_the_body_is_wanted() {
    let server = serve(|request: AppRequest| async move {
        if request.target() == "/unread" {
            return Ok(Response::empty(204));
        }
        mirror(request).await
    });
    let mut client = connect(&server);
    let head = "POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    client.send(format!("GET /before HTTP/1.1\r\nHost: a\r\n\r\n{}", head.replace("{}", "/")));
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    assert_eq!(client.answer().text(), "hello");
    client.send(head.replace("{}", "/unread"));
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("connection")), (204, Some("close")));
}

#[test]
fn a_body_left_unread_is_drained_or_ends_the_connection() {
    let server = serve(|_: AppRequest| async { Ok(Response::text(200, "unread")) });
    let mut client = connect(&server);
    for _ in 0..2 {
        assert_eq!(client.post("/", TEXT, &noise(200_000)).header("connection"), None);
    }
    client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", 100 * MIB));
    assert_eq!(client.answer().header("connection"), Some("close"));
    let mut client = connect(&server);
    client.send([CHUNKED.as_bytes(), b"ffffffff\r\n"].concat());
    assert_eq!(client.answer().text(), "unread");
    let end = Instant::now() + PATIENCE;
    while client.socket.write_all(&[0; 8192]).is_ok() {
        assert!(Instant::now() < end, "it goes on reading");
    }
    assert_eq!(server.requests(), 4);
}

#[test]
fn a_broken_body_has_its_own_status() {
    let limits = Limits { body: Some(10), ..Limits::default() };
    let server = Server::start(ServerConfig { limits, ..config(mirror) }).unwrap();
    for (bytes, status) in [
        (format!("{CHUNKED}zz\r\n"), 400),
        (format!("{CHUNKED}a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n"), 413),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n".to_owned(), 413),
    ] {
        let mut client = connect(&server);
        client.send(&bytes);
        let answer = client.answer();
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")), "{bytes}");
        client.socket.shutdown(std::net::Shutdown::Write).unwrap();
        client.assert_closed();
    }
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Never ready; counts its end.
struct Never;

impl Future for Never {
    type Output = Result<Response, String>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl Drop for Never {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_app_is_dropped_when_its_client_goes() {
    let server = serve(|_| Never);
    for (n, request) in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", CHUNKED].into_iter().enumerate() {
        let mut client = connect(&server);
        client.send(request);
        if n == 1 {
            client.send("0\r\n\r\n");
        }
        wait_until(|| server.requests() == n as u64 + 1);
        drop(client);
        if n == 0 {
            wait_until(|| DROPPED.load(Ordering::Relaxed) == 1);
        }
    }
    server.stop(Duration::ZERO);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
}

#[test]
fn an_app_that_cannot_be_made_says_why() {
    let app: onrush_server::AppFactory = Arc::new(|| Err("no app here".to_owned()));
    let config = ServerConfig { app: Some(app), workers: 2, ..config(mirror) };
    assert_eq!(Server::start(config).err().unwrap().to_string(), "no app here");
}

#[test]
fn apps_serve_unix_sockets_too() {
    let path = std::env::temp_dir().join(format!("onrush-app-{}.sock", std::process::id()));
    let server = Server::start(ServerConfig { unix: vec![path.clone()], ..config(mirror) }).unwrap();
    let mut client = Client::new(std::os::unix::net::UnixStream::connect(&path).unwrap());
    assert_eq!(client.post("/", TEXT, &noise(MIB)).body, noise(MIB));
    drop(server);
}

#[test]
fn trailers_are_there_behind_the_body() {
    let server = serve(|mut request: AppRequest| async move {
        assert!(request.body.trailers().is_empty());
        while let Some(piece) = request.body.next().await {
            piece.map_err(|e| e.to_string())?;
        }
        let trailers = request.body.trailers().into_iter();
        let trailers: Vec<_> = trailers.map(|(n, v)| format!("{n}={}", String::from_utf8_lossy(&v))).collect();
        Ok(Response::json(200, &json!(trailers)))
    });
    let mut client = connect(&server);
    client.send(format!("{CHUNKED}3\r\nabc\r\n0\r\nDigest: x \r\nX-Two: a:b\r\n\r\n"));
    assert_eq!(client.answer().json(), json!(["Digest=x", "X-Two=a:b"]));
    client.send(format!("{CHUNKED}0\r\n\r\n"));
    assert_eq!(client.answer().json(), json!([]));
}

/// The certificate is not what these tests are about.
fn trusting(pem: &str) -> Arc<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls_pki_types::pem::PemObject::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

#[test]
fn apps_serve_tls_too() {
    let tls = vec!["127.0.0.1:0".parse().unwrap()];
    let server = Server::start(ServerConfig { tls, ..config(mirror) }).unwrap();
    let trust = trusting(server.addresses().certificate_pem.as_deref().unwrap());
    let session = rustls::ClientConnection::new(trust, "localhost".try_into().unwrap()).unwrap();
    let socket = std::net::TcpStream::connect(server.addresses().tls[0]).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut client = Client::new(rustls::StreamOwned::new(session, socket));
    let body = noise(MIB);
    assert!(client.post("/", TEXT, &body).body == body);
    for size in [10, 5000, 100_000] {
        client.send([CHUNKED.as_bytes(), &chunked(&body[..200_000], size)].concat());
        assert!(client.answer().body == body[..200_000], "chunks of {size}");
    }
    assert!(client.get("/a").json()["url"].as_str().unwrap().starts_with("https://localhost/"));
}

#[test]
fn a_stop_lets_the_app_answer() {
    let server = serve(|request: AppRequest| async move {
        let all = whole(request.body).await.map_err(|e| e.to_string())?;
        tokio::time::sleep(Duration::from_millis(200)).await;
        Ok(Response::new(200, TEXT, Body::Bytes(all)))
    });
    let mut client = connect(&server);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
    wait_until(|| server.stats()["body_bytes_received"] == 3);
    let stopping = std::thread::spawn(move || server.stop(PATIENCE));
    std::thread::sleep(Duration::from_millis(20));
    client.send("lo");
    let answer = client.answer();
    assert_eq!((answer.text(), answer.header("connection")), ("hello", Some("close")));
    client.assert_closed();
    assert_eq!(stopping.join().unwrap()["connections"]["open"], 0);
}

#[test]
fn a_body_that_stops_is_told_to_the_app() {
    let limits = Limits { body_time: Duration::from_millis(100), ..Limits::default() };
    let server = Server::start(ServerConfig { limits, ..config(mirror) }).unwrap();
    let mut silent = connect(&server);
    silent.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
    assert_eq!(silent.answer().status, 408);
    let server = Server::start(config(mirror)).unwrap();
    let mut gone = connect(&server);
    gone.send(format!("{CHUNKED}5\r\nhel"));
    gone.socket.shutdown(std::net::Shutdown::Write).unwrap();
    let answer = gone.answer();
    assert_eq!((answer.status, answer.header("connection")), (500, Some("close")));
    assert_eq!(answer.json()["detail"], "the connection ended within the request body: the client closed it");
    drop(gone);
    wait_until(|| server.stats()["connections"]["open"] == 0);
    assert_eq!(server.stats()["buffers"]["in_use"], 0);
}
