//! A blocking client over raw sockets for these tests: it reads exactly one response at a time, so surplus bytes show.

#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use onrush_server::{Server, ServerConfig};
use serde_json::Value;

/// A read that takes longer has failed; no test comes near it otherwise.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for something another thread does, and fails when it does not happen.
pub fn wait_until(happened: impl Fn() -> bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while !happened() {
        assert!(std::time::Instant::now() < end, "it did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A target on a free port.
pub fn server(workers: usize) -> Server {
    let any = "127.0.0.1:0".parse().unwrap();
    Server::start(ServerConfig { tcp: vec![any], workers, ..ServerConfig::default() }).unwrap()
}

/// A socket to it.
pub fn connect(server: &Server) -> Client<TcpStream> {
    let socket = TcpStream::connect(server.addresses().tcp[0]).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_nodelay(true).unwrap();
    Client::new(socket)
}

/// An encrypted connection to it, its certificate trusted.
pub fn tls(server: &Server) -> rustls::StreamOwned<rustls::ClientConnection, TcpStream> {
    let addresses = server.addresses();
    let pem = addresses.certificate_pem.as_deref().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls_pki_types::pem::PemObject::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(builder.with_root_certificates(roots).with_no_client_auth());
    let session = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let socket = TcpStream::connect(addresses.tls[0]).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    rustls::StreamOwned::new(session, socket)
}

/// A connection and what was read ahead.
pub struct Client<S> {
    pub socket: S,
    ahead: Vec<u8>,
}

/// One response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    pub trailers: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl<S: Read + Write> Client<S> {
    pub fn new(socket: S) -> Self {
        Client { socket, ahead: Vec::new() }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.socket.write_all(bytes.as_ref()).unwrap();
    }

    pub fn get(&mut self, target: &str) -> Answer {
        self.get_with(target, "")
    }

    pub fn get_with(&mut self, target: &str, headers: &str) -> Answer {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"));
        self.answer()
    }

    pub fn post(&mut self, target: &str, content_type: &str, body: &[u8]) -> Answer {
        let length = body.len();
        let head = "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {type}\r\nContent-Length: ";
        let head = head.replace("{target}", target).replace("{type}", content_type);
        self.send([format!("{head}{length}\r\n\r\n").as_bytes(), body].concat());
        self.answer()
    }

    fn more(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        let n = self.socket.read(&mut buffer).unwrap();
        self.ahead.extend_from_slice(&buffer[..n]);
        n > 0
    }

    /// Reads up to and with `end`.
    pub fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.ahead.windows(end.len()).position(|w| w == end.as_bytes()) {
                let rest = self.ahead.split_off(at + end.len());
                return String::from_utf8(std::mem::replace(&mut self.ahead, rest)).unwrap();
            }
            assert!(self.more(), "closed before {end:?}: {:?}", String::from_utf8_lossy(&self.ahead));
        }
    }

    pub fn exactly(&mut self, n: usize) -> Vec<u8> {
        while self.ahead.len() < n {
            assert!(self.more(), "closed within a body");
        }
        let rest = self.ahead.split_off(n);
        std::mem::replace(&mut self.ahead, rest)
    }

    /// Everything until the server closes.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.more() {}
        std::mem::take(&mut self.ahead)
    }

    /// The next response to HEAD.
    pub fn head(&mut self) -> Answer {
        let head = self.until("\r\n\r\n");
        Answer { status: head[9..12].parse().unwrap(), head, body: Vec::new(), trailers: String::new() }
    }

    /// The next response, its body framed by its head (of a request that was not HEAD).
    pub fn answer(&mut self) -> Answer {
        let head = self.until("\r\n\r\n");
        let mut answer = Answer { status: 0, head, body: Vec::new(), trailers: String::new() };
        answer.status = answer.head[9..12].parse().unwrap();
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let line = self.until("\r\n");
                let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
                if size == 0 {
                    break;
                }
                answer.body.extend(self.exactly(size));
                assert_eq!(self.exactly(2), b"\r\n");
            }
            while !answer.trailers.ends_with("\r\n\r\n") && answer.trailers != "\r\n" {
                answer.trailers += &self.until("\r\n");
            }
        } else if let Some(length) = answer.header("content-length") {
            answer.body = self.exactly(length.parse().unwrap());
        }
        answer
    }

    /// Nothing is left and nothing comes: the server closed.
    pub fn assert_closed(&mut self) {
        assert_eq!(String::from_utf8_lossy(&self.rest()), "");
    }
}
