//! What an app's bodies look like on the wire: streams that pause, fail or lie, files that shrink, lines that are not
//! the app's.

#![allow(clippy::unwrap_used)]

mod client;

use std::collections::VecDeque;
use std::future::Future;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use client::{Client, PATIENCE, connect, wait_until};
use onrush_server::app::{Answering, App, AppRequest};
use onrush_server::{Body, PieceStream, Response, Server, ServerConfig};

/// What a scripted stream does next.
enum Step {
    Give(&'static str),
    Sleep(u64),
    Fail,
    /// Never ready again.
    Hang,
}

struct Scripted {
    steps: VecDeque<Step>,
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
    alive: Arc<AtomicUsize>,
}

impl Scripted {
    fn body(alive: &Arc<AtomicUsize>, length: Option<u64>, steps: impl IntoIterator<Item = Step>) -> Body {
        alive.fetch_add(1, Ordering::SeqCst);
        let pieces = Scripted { steps: steps.into_iter().collect(), sleep: None, alive: alive.clone() };
        Body::Stream { length, pieces: Box::new(pieces) }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl PieceStream for Scripted {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                std::task::ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
            }
            match self.steps.pop_front() {
                None => return Poll::Ready(None),
                Some(Step::Give(text)) => return Poll::Ready(Some(Ok(Bytes::from_static(text.as_bytes())))),
                Some(Step::Fail) => return Poll::Ready(Some(Err("it broke".into()))),
                Some(Step::Hang) => {
                    self.steps.push_front(Step::Hang);
                    return Poll::Pending;
                }
                Some(Step::Sleep(ms)) => self.sleep = Some(Box::pin(tokio::time::sleep(Duration::from_millis(ms)))),
            }
        }
    }
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

struct Stage {
    alive: Arc<AtomicUsize>,
}

impl Stage {
    fn answer(&self, target: &str) -> Response {
        use Step::{Fail, Give, Hang, Sleep};
        let stream = |length, steps: Vec<Step>| Response::bare(200, Scripted::body(&self.alive, length, steps));
        match target {
            "/pause" => stream(None, vec![Give("one"), Give("two"), Sleep(60_000), Give("three")]),
            "/pauses" => stream(None, vec![Give("one"), Sleep(5), Give(""), Give("two"), Sleep(5), Give("three")]),
            "/fails" => stream(None, vec![Give("one"), Sleep(1), Fail]),
            "/short" => stream(Some(10), vec![Give("one")]),
            "/long" => stream(Some(4), vec![Give("one"), Give("two")]),
            "/exact" => stream(Some(6), vec![Give("one"), Give("two")]),
            "/hangs" => stream(None, vec![Give("one"), Hang]),
            "/shrinks" | "/file" => {
                let number = NUMBER.fetch_add(1, Ordering::SeqCst);
                let path = std::env::temp_dir().join(format!("onrush-streams-{}-{number}", std::process::id()));
                let mut file = std::fs::File::create_new(&path).unwrap();
                let readable = std::fs::File::open(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                file.write_all(&vec![b'f'; 100_000]).unwrap();
                let length = if target == "/file" { 100_000 } else { 200_000 };
                Response::bare(200, Body::File { file: Arc::new(readable), offset: 0, length })
            }
            "/trailers" => {
                let body = Body::Array(vec![Bytes::from_static(b"one"), Bytes::from(vec![b'2'; 5000])]);
                let mut response = Response::bare(200, body).header("Trailer", "X-Sum");
                response.trailers.push(("X-Sum".into(), "7".into()));
                response
            }
            "/lines" => Response::text(200, "lines")
                .header("content-length", "99")
                .header("Transfer-Encoding", "chunked")
                .header("Connection", "close")
                .header("X-Own", "kept"),
            _ => Response::error(404, "no such stage"),
        }
    }
}

impl App for Stage {
    fn fetch(&self, request: AppRequest) -> Answering {
        let response = self.answer(request.target());
        let echo = request.target() == "/echo";
        Box::pin(async move { Ok(if echo { Response::bare(200, Body::stream(Echo(request))) } else { response }) })
    }
}

/// Gives back the request's body as it comes, so both sides talk at once.
struct Echo(AppRequest);

impl PieceStream for Echo {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        let next = self.0.body.next();
        let mut next = std::pin::pin!(next);
        next.as_mut()
            .poll(cx)
            .map(|piece| piece.map(|piece| piece.map(|p| Bytes::copy_from_slice(&p)).map_err(|e| e.to_string())))
    }
}

struct Lab {
    server: Server,
    alive: Arc<AtomicUsize>,
}

fn lab(unix: Option<&std::path::Path>) -> Lab {
    let alive = Arc::new(AtomicUsize::new(0));
    let any = || vec!["127.0.0.1:0".parse().unwrap()];
    let stage = alive.clone();
    let config = ServerConfig {
        tcp: any(),
        tls: any(),
        unix: unix.map(Into::into).into_iter().collect(),
        app: Some(Arc::new(move || Ok(Rc::new(Stage { alive: stage.clone() }) as Rc<dyn App>))),
        ..ServerConfig::default()
    };
    Lab { server: Server::start(config).unwrap(), alive }
}

fn get(client: &mut Client<TcpStream>, target: &str) {
    client.send(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
}

#[test]
fn what_is_ready_leaves_while_the_rest_sleeps() {
    let path = std::env::temp_dir().join(format!("onrush-streams-{}.sock", std::process::id()));
    let lab = lab(Some(&path));
    let mut client = connect(&lab.server);
    get(&mut client, "/pause");
    assert!(client.until("\r\n3\r\ntwo\r\n").ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n"));
    let unix = UnixStream::connect(&path).unwrap();
    unix.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut client = Client::new(unix);
    client.send("GET /pause HTTP/1.0\r\n\r\n");
    assert!(client.until("onetwo").ends_with("\r\n\r\nonetwo"));
    let mut client = Client::new(client::tls(&lab.server));
    client.send("GET /pause HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.until("two\r\n").ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n"));
    let mut client = connect(&lab.server);
    for _ in 0..2 {
        get(&mut client, "/pauses");
        assert_eq!(client.answer().text(), "onetwothree");
    }
}

#[test]
fn bodies_that_end_before_their_time_end_the_connection() {
    let lab = lab(None);
    for (target, came) in [("/fails", "3\r\none\r\n"), ("/short", "one"), ("/long", "one")] {
        let mut client = connect(&lab.server);
        get(&mut client, target);
        client.until("\r\n\r\n");
        assert_eq!(String::from_utf8_lossy(&client.rest()), came, "{target}");
    }
    let mut client = connect(&lab.server);
    get(&mut client, "/shrinks");
    assert!(client.until("\r\n\r\n").contains("Content-Length: 200000\r\n"));
    assert_eq!(client.rest().len(), 100_000);
    let mut client = Client::new(client::tls(&lab.server));
    client.send("GET /shrinks HTTP/1.1\r\nHost: a\r\n\r\n");
    client.until("\r\n\r\n");
    // Without a close_notify: no client can take it for the whole.
    let error = std::io::Read::read_to_end(&mut client.socket, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    // Where the end of the connection is the end of the body, the end is a reset.
    let mut client = connect(&lab.server);
    client.send("GET /fails HTTP/1.0\r\n\r\n");
    let error = std::io::Read::read_to_end(&mut client.socket, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    wait_until(|| lab.server.stats()["connections"]["open"] == 0);
    assert_eq!(lab.server.stats()["cut_short"], 6);
    assert_eq!(lab.alive.load(Ordering::SeqCst), 0);
}

#[test]
fn complete_bodies_keep_the_connection() {
    let lab = lab(None);
    let mut client = connect(&lab.server);
    for _ in 0..2 {
        get(&mut client, "/exact");
        let answer = client.answer();
        assert_eq!((answer.text(), answer.header("content-length")), ("onetwo", Some("6")));
        get(&mut client, "/file");
        assert!(client.answer().body == [b'f'; 100_000]);
        get(&mut client, "/trailers");
        let answer = client.answer();
        assert_eq!((answer.body.len(), answer.trailers.as_str()), (5003, "X-Sum: 7\r\n\r\n"));
    }
    for target in ["/exact", "/pauses", "/file"] {
        client.send(format!("HEAD {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        let head = client.until("\r\n\r\n");
        assert_eq!(head.contains("Content-Length: "), target != "/pauses", "{head}");
    }
    get(&mut client, "/lines");
    let answer = client.answer();
    assert_eq!((answer.text(), answer.header("x-own")), ("lines", Some("kept")));
    assert_eq!(answer.head.matches("ontent-").count(), 2, "{}", answer.head);
    assert_eq!((answer.header("transfer-encoding"), answer.header("connection")), (None, Some("close")));
    client.assert_closed();
    assert_eq!(lab.server.stats()["cut_short"], 0);
}

#[test]
fn a_stream_ends_with_its_client() {
    let lab = lab(None);
    let mut client = connect(&lab.server);
    get(&mut client, "/hangs");
    client.until("one");
    assert_eq!(lab.alive.load(Ordering::SeqCst), 1);
    drop(client);
    wait_until(|| lab.alive.load(Ordering::SeqCst) == 0);
}

#[test]
fn both_sides_can_talk_at_once() {
    let lab = lab(None);
    let mut client = connect(&lab.server);
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for word in ["one", "two", "three"] {
        client.send(format!("{:x}\r\n{word}\r\n", word.len()));
        assert!(client.until(&format!("{word}\r\n")).ends_with(&format!("{:x}\r\n{word}\r\n", word.len())));
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.until("0\r\n\r\n"), "0\r\n\r\n");
    get(&mut client, "/exact");
    assert_eq!(client.answer().text(), "onetwo");
}
