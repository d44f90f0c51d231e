//! A server of raw bytes, for what peers may do that `onrush serve` does not: each connection has a thread, which reads
//! one request after the other and leaves the answer to the test. Every request whose head was read is kept, so that a
//! run's counts can be compared with it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A connection, whatever carries it.
pub trait Socket: Read + Write + Send {
    /// Sends the end of the stream; reading goes on.
    fn end_sending(&self);
    /// Reading fails when nothing comes for so long.
    fn wait_at_most(&self, time: Duration);
}

impl Socket for TcpStream {
    fn end_sending(&self) {
        let _gone = self.shutdown(Shutdown::Write);
    }

    fn wait_at_most(&self, time: Duration) {
        self.set_read_timeout(Some(time)).expect("a time");
    }
}

impl Socket for UnixStream {
    fn end_sending(&self) {
        let _gone = self.shutdown(Shutdown::Write);
    }

    fn wait_at_most(&self, time: Duration) {
        self.set_read_timeout(Some(time)).expect("a time");
    }
}

/// A request whose head was read. Its body is still to be read.
pub struct Request {
    /// The path, with its slash.
    pub path: String,
    /// Length of the body.
    pub length: usize,
}

/// Whether the connection goes on after an answer.
#[derive(PartialEq, Eq)]
pub enum Then {
    Next,
    Close,
}

/// What the server has seen.
#[derive(Default)]
struct Seen {
    paths: Vec<String>,
    open: usize,
}

/// A server that lives as long as the test program.
pub struct Peer {
    /// `http://127.0.0.1:PORT`; empty on a unix socket.
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

type Answer = dyn Fn(&mut dyn Socket, &Request) -> Then + Send + Sync;

impl Peer {
    /// Serves a port of its own.
    pub fn on_tcp(answer: impl Fn(&mut dyn Socket, &Request) -> Then + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let next = move || {
            let stream = listener.accept().ok()?.0;
            stream.set_nodelay(true).ok()?;
            Some(Box::new(stream) as Box<dyn Socket>)
        };
        Peer::serve(url, next, Arc::new(answer))
    }

    /// Serves a unix socket.
    pub fn on_unix(path: &Path, answer: impl Fn(&mut dyn Socket, &Request) -> Then + Send + Sync + 'static) -> Peer {
        let listener = UnixListener::bind(path).expect("a socket");
        let next = move || Some(Box::new(listener.accept().ok()?.0) as Box<dyn Socket>);
        Peer::serve(String::new(), next, Arc::new(answer))
    }

    fn serve(url: String, next: impl Fn() -> Option<Box<dyn Socket>> + Send + 'static, answer: Arc<Answer>) -> Peer {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let all = Arc::clone(&seen);
        std::thread::spawn(move || {
            while let Some(mut socket) = next() {
                let (seen, answer) = (Arc::clone(&all), Arc::clone(&answer));
                lock(&seen).open += 1;
                std::thread::spawn(move || {
                    talk(&mut *socket, &seen, &*answer);
                    lock(&seen).open -= 1;
                });
            }
        });
        Peer { url, seen }
    }

    /// How many requests it has read whose paths begin like this.
    pub fn count(&self, start: &str) -> usize {
        lock(&self.seen).paths.iter().filter(|path| path.starts_with(start)).count()
    }

    /// The paths of all requests, once every connection is closed.
    pub fn paths(&self) -> Vec<String> {
        wait_until("the peer's connections are closed", || lock(&self.seen).open == 0);
        lock(&self.seen).paths.clone()
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().expect("no test of this peer has failed")
}

fn talk(socket: &mut dyn Socket, seen: &Mutex<Seen>, answer: &Answer) {
    while let Some(request) = read_head(socket) {
        lock(seen).paths.push(request.path.clone());
        if answer(socket, &request) == Then::Close {
            return;
        }
    }
}

fn read_head(socket: &mut dyn Socket) -> Option<Request> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if socket.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.trim().parse().expect("a length"));
    let path = head.split(' ').nth(1).expect("a path").to_owned();
    Some(Request { path, length })
}

/// Reads a body of this length.
pub fn read_body(socket: &mut dyn Socket, length: usize) {
    let _gone = io::copy(&mut socket.take(length as u64), &mut io::sink());
}

/// Reads until the client closes, or until nothing comes any more; how many bytes came.
pub fn drain(socket: &mut dyn Socket) -> usize {
    let (mut buffer, mut came) = (vec![0; 1 << 16], 0);
    while let Ok(more @ 1..) = socket.read(&mut buffer) {
        came += more;
    }
    came
}

/// An answer 200 with this body. The client may be gone, which is its right.
pub fn say(socket: &mut dyn Socket, body: &str) {
    let _gone = socket.write_all(whole(body).as_bytes());
}

/// The bytes of that answer.
pub fn whole(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Waits for something that other threads or processes do; fails the test when it does not come.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
