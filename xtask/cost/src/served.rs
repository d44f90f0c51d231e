//! `onrush serve` as a child process: its addresses, its statistics, its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A server that listens.
pub(crate) struct Served {
    child: Child,
    plain: String,
    tls: String,
}

impl Served {
    /// Starts it: `command` is the program, perhaps under valgrind, without arguments of its own.
    pub(crate) fn start(mut command: Command, app: Option<&std::path::Path>) -> Result<Served, String> {
        command.args(["serve", "--workers", "1", "--listen", "tcp://127.0.0.1:0", "--listen", "tls://127.0.0.1:0"]);
        command.args(app).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
        let errors = child.stderr.take().ok_or("the server has no stderr")?;
        let output = child.stdout.take().ok_or("the server has no stdout")?;
        let (told, heard) = std::sync::mpsc::channel();
        for stream in [Box::new(errors) as Box<dyn Read + Send>, Box::new(output)] {
            let told = told.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    // Read to the end, so that the server never waits for us.
                    let _ = told.send(line);
                }
            });
        }
        drop(told);
        let mut served = Served { child, plain: String::new(), tls: String::new() };
        let mut seen = Vec::new();
        while served.plain.is_empty() || served.tls.is_empty() {
            let line = heard.recv_timeout(Duration::from_secs(60));
            let line = line.map_err(|_| format!("the server does not listen; it said: {}", seen.join(" / ")))?;
            match line.strip_prefix("listening on ") {
                Some(address) if address.starts_with("https:") => served.tls = format!("{address}/"),
                Some(address) => served.plain = format!("{address}/"),
                None => seen.push(line),
            }
        }
        Ok(served)
    }

    /// The base of its URLs.
    pub(crate) fn url(&self, is_tls: bool) -> &str {
        if is_tls { &self.tls } else { &self.plain }
    }

    /// What the server has counted.
    pub(crate) fn stats(&self) -> Result<Value, String> {
        let address = self.plain.trim_start_matches("http://").trim_end_matches('/');
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(address)?;
            write!(stream, "GET /stats HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = ask().map_err(|error| format!("{}stats: {error}", self.plain))?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        serde_json::from_str(body).map_err(|error| format!("{}stats: {error} in {body:?}", self.plain))
    }

    /// Ends it as Ctrl+C does, and waits for it.
    pub(crate) fn stop(mut self) -> Result<(), String> {
        interrupt(&mut self.child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Does nothing when it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a child as Ctrl+C does, and waits for it.
pub(crate) fn interrupt(child: &mut Child) -> Result<(), String> {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    status.map_err(|error| format!("cannot run kill: {error}"))?;
    child.wait().map(|_| ()).map_err(|error| format!("the process does not end: {error}"))
}
