//! A scripted peer for tests: a listener that reads what a client sends and plays its side byte by byte; and a client.
//!
//! Each connection is one `Script`: what to do in order. The peer runs on a thread of its own and reports what it read.
#![allow(dead_code, clippy::unwrap_used)]

pub mod tls;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use onrush_wire::client::{Client, ClientContext};
use onrush_wire::request::{Auth, BodyUse};
use onrush_wire::{Exchange, Method, Payload, Request, Settings, Url};

/// One thing the peer does on a connection.
#[derive(Clone, Debug)]
pub enum Act {
    /// Reads one request: head, and as many body bytes as its Content-Length says.
    ReadRequest,
    /// Reads the head alone.
    ReadHead,
    /// Writes these bytes at once.
    Write(Vec<u8>),
    /// Writes these bytes again and again till the client closes.
    WriteForever(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Closes with a reset instead of a FIN.
    Reset,
    /// Reads so many bytes.
    ReadBytes(usize),
    /// Keeps everything open till the client closes.
    AwaitClose,
    /// Closes its sending side, and keeps reading till the client closes too.
    ShutdownWrite,
}

/// Writes a text.
pub fn write(text: &str) -> Act {
    Act::Write(text.as_bytes().to_vec())
}

/// A peer that serves its connections one after the other, then is gone.
pub struct Peer {
    pub address: SocketAddr,
    seen: mpsc::Receiver<Vec<u8>>,
    thread: JoinHandle<()>,
}

impl Peer {
    /// Plays one list of acts per connection, in order of arrival; each runs on its own thread.
    pub fn play(connections: Vec<Vec<Act>>) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, seen) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut running = Vec::new();
            for acts in connections {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                stream.set_nodelay(true).unwrap();
                let sender = sender.clone();
                running.push(thread::spawn(move || {
                    acts.into_iter().for_each(|act| perform(act, &mut stream, &sender));
                }));
            }
            drop(listener);
            running.into_iter().for_each(|r| r.join().unwrap());
        });
        Peer { address, seen, thread }
    }

    /// The URL of a path here.
    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    /// Waits for the end and gives every request read, in order of reading.
    pub fn finish(self) -> Vec<Vec<u8>> {
        self.thread.join().unwrap();
        self.seen.into_iter().collect()
    }
}

fn perform(act: Act, stream: &mut TcpStream, seen: &mpsc::Sender<Vec<u8>>) {
    match act {
        Act::ReadRequest => seen.send(read_request(stream, true)).unwrap(),
        Act::ReadHead => seen.send(read_request(stream, false)).unwrap(),
        // The client may be gone already; that is its right in many rows.
        Act::Write(bytes) => drop(stream.write_all(&bytes)),
        Act::WriteForever(bytes) => while stream.write_all(&bytes).is_ok() {},
        Act::Pause(time) => thread::sleep(time),
        Act::Reset => {
            socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
        Act::ReadBytes(n) => stream.read_exact(&mut vec![0; n]).unwrap(),
        Act::AwaitClose => {
            let mut sink = vec![0; 1 << 16];
            while stream.read(&mut sink).is_ok_and(|n| n > 0) {}
        }
        Act::ShutdownWrite => {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let _ = stream.read(&mut [0; 1]);
        }
    }
}

/// Reads a head byte by byte, then the body its Content-Length announces.
pub fn read_request(stream: &mut impl Read, with_body: bool) -> Vec<u8> {
    let mut message = Vec::new();
    let mut byte = [0u8];
    while !message.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        message.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&message).to_ascii_lowercase();
    let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")).map_or(0, |v| v.trim().parse().unwrap());
    if with_body {
        let start = message.len();
        message.resize(start + length, 0);
        stream.read_exact(&mut message[start..]).unwrap();
    }
    message
}

/// Settings for tests: no proxies, a short agent.
pub fn settings() -> Settings {
    Settings { user_agent: String::from("t"), ..Settings::default() }
}

/// A GET of a URL, ten seconds at most.
pub fn get(url: Url) -> Request {
    Request {
        method: Method::Get,
        url,
        headers: Rc::new([]),
        cookies: Rc::new([]),
        body: None,
        timeout: Some(Duration::from_secs(10)),
        max_redirects: 10,
        auth: Auth::FromUserinfo,
        body_use: BodyUse::Keep,
        prior_knowledge: false,
        tls: None,
    }
}

/// A POST of some bytes.
pub fn post(url: Url, body: impl Into<bytes::Bytes>) -> Request {
    Request { method: Method::Post, body: Some(Payload::from_bytes(body)), ..get(url) }
}

/// Sends requests one after the other with one client.
pub fn send_all(settings: Settings, requests: &[Request]) -> Vec<Exchange> {
    run(settings, async |client| {
        let mut exchanges = Vec::new();
        for request in requests {
            exchanges.push(*client.send(request, None, &mut |_| {}).await);
        }
        exchanges
    })
}

/// Sends one request.
pub fn send(request: &Request) -> Exchange {
    send_all(settings(), std::slice::from_ref(request)).remove(0)
}

/// Runs a future that uses a client, on a runtime like a worker's.
pub fn run<T>(settings: Settings, work: impl AsyncFnOnce(Client) -> T) -> T {
    let runtime = onrush_wire::event_loop().unwrap();
    runtime.block_on(async move {
        let worker = ClientContext::new(Arc::new(settings)).unwrap();
        work(Client::new(worker)).await
    })
}

/// Body as bytes; panics on a failure with its text.
pub fn body(exchange: &Exchange) -> Vec<u8> {
    match &exchange.outcome {
        Ok(response) => match &response.body {
            onrush_wire::Body::Kept(bytes) => bytes.to_vec(),
            other => panic!("no kept body: {other:?}"),
        },
        Err(failure) => panic!("failed: {failure:?}"),
    }
}

/// Failure text; panics on a response.
pub fn failure(exchange: &Exchange) -> String {
    exchange.outcome.as_ref().expect_err("a failure was expected").message.clone()
}
