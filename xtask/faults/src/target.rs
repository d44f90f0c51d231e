//! A server that counts the requests of each run: runs have paths of their own, `/RUN/…`.
//!
//! In plain threads and without any part of Onrush, so that the two accounts cannot share a mistake.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The longest body that is read.
const LONGEST_BODY: usize = 1 << 20;

#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// Whole requests by run.
    requests: Arc<Mutex<HashMap<String, u64>>>,
}

impl Target {
    pub(crate) fn start() -> Result<Target, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("cannot listen: {error}"))?;
        let address = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
        let target = Target { address, requests: Arc::default() };
        let counts = target.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counts = counts.clone();
                std::thread::spawn(move || counts.serve(stream));
            }
        });
        Ok(target)
    }

    /// Takes the count of a run.
    pub(crate) fn requests_of(&self, run: &str) -> u64 {
        self.requests.lock().expect("no thread panics with the lock").remove(run).unwrap_or(0)
    }

    /// Answers until the connection ends or says something that is no request.
    fn serve(&self, stream: TcpStream) {
        let Ok(mut answers) = stream.try_clone() else { return };
        _ = stream.set_nodelay(true);
        let mut requests = BufReader::new(stream);
        while let Some(run) = read_request(&mut requests) {
            *self.requests.lock().expect("no thread panics with the lock").entry(run).or_default() += 1;
            const BODY: &str = r#"{"size": 17, "list": [1, 2, 3], "text": "an answer"}"#;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length";
            let answer = format!("{head}: {}\r\n\r\n{BODY}", BODY.len());
            if answers.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// The run whose request was read to its end.
fn read_request(from: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    from.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let run = line.split(' ').nth(1)?.split('/').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        from.read_line(&mut header).ok().filter(|length| *length > 0)?;
        let header = header.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok().filter(|length| *length <= LONGEST_BODY)?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(run)
}
