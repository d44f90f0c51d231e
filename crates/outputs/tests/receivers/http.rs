//! A receiver that speaks HTTP/1.1 and keeps what it is sent, or behaves badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What it does with a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Answers with this status.
    Answers(u16),
    /// Never answers, and reads nothing.
    Hangs,
    /// Answers after so long.
    IsSlow(Duration),
    /// Closes the connection.
    HangsUp,
    /// Answers with a body without end.
    Babbles,
}

/// Bytes of a body that is kept.
const KEPT: usize = 64 << 10;

/// A request: its head and its body.
pub type Got = (String, Vec<u8>);

/// The receiver.
pub struct Receiver {
    pub address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
    /// Lines of all bodies.
    pub lines: Arc<AtomicU64>,
}

impl Receiver {
    pub fn start(manner: Manner) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Receiver { address: listener.local_addr().unwrap(), got: Arc::default(), lines: Arc::default() };
        let (got, lines) = (receiver.got.clone(), receiver.lines.clone());
        // Lives as long as the test process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (got, lines) = (got.clone(), lines.clone());
                std::thread::spawn(move || serve(&stream, manner, (&got, &lines)));
            }
        });
        receiver
    }

    /// All requests so far.
    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

/// Ends when the peer is gone.
fn serve(stream: &TcpStream, manner: Manner, (got, lines): (&Mutex<Vec<Got>>, &AtomicU64)) {
    let mut reader = BufReader::new(stream);
    if manner == Manner::Hangs {
        std::thread::sleep(Duration::from_secs(60));
    }
    while let Some((head, body)) = read(&mut reader, lines) {
        got.lock().unwrap().push((head, body));
        let mut answer = |text: &str| reader.get_mut().write_all(text.as_bytes()).is_ok();
        match manner {
            Manner::Answers(204) => answer("HTTP/1.1 204 No Content\r\n\r\n"),
            Manner::Answers(status) => {
                let body = "the database is on fire";
                let length = body.len();
                answer(&format!(
                    "HTTP/1.1 {status} Because\r\nX-Influxdb-Error: {body}\r\nContent-Length: {length}\r\n\r\n{body}"
                ))
            }
            Manner::IsSlow(time) => {
                std::thread::sleep(time);
                answer("HTTP/1.1 204 No Content\r\n\r\n")
            }
            Manner::HangsUp | Manner::Hangs => return,
            Manner::Babbles => {
                answer("HTTP/1.1 500 Because\r\n\r\n");
                while answer(&"bla ".repeat(10_000)) {}
                return;
            }
        };
    }
}

fn read(reader: &mut BufReader<&TcpStream>, lines: &AtomicU64) -> Option<Got> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
    let (mut body, mut left, mut piece) = (Vec::new(), length, vec![0; 16 << 10]);
    while left > 0 {
        let most = left.min(piece.len());
        let count = reader.read(&mut piece[..most]).ok().filter(|count| *count > 0)?;
        left -= count;
        lines.fetch_add(piece[..count].iter().filter(|byte| **byte == b'\n').count() as u64, Ordering::Relaxed);
        // Large ones would be mistaken for memory of the product.
        if length < KEPT {
            body.extend_from_slice(&piece[..count]);
        }
    }
    Some((head, body))
}
