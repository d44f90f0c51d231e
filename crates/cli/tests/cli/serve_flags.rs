//! `onrush serve`: listeners, limits and what is wrong with flags.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::lab::Lab;

/// A running target and the lines it began with.
struct Serving {
    child: Child,
    lines: Vec<String>,
    _lab: Lab,
}

impl Serving {
    /// Starts with these arguments, which have so many listeners.
    fn start(listeners: usize, arguments: &[&str]) -> Serving {
        let lab = Lab::new();
        let all: Vec<&str> = ["serve"].iter().chain(arguments).copied().collect();
        let mut child = lab.command(&all).stdout(Stdio::piped()).spawn().expect("onrush starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let lines = (0..listeners).map(|_| {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("a line");
            line.trim().to_owned()
        });
        let lines = lines.collect();
        child.stdout = Some(stdout.into_inner());
        Serving { child, lines, _lab: lab }
    }

    fn connect(&self) -> TcpStream {
        let address = self.lines[0].strip_prefix("listening on http://").expect("a tcp listener first");
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        stream
    }

    /// The first line of what comes back until the end.
    fn status(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let _ended = stream.shutdown(std::net::Shutdown::Write);
        first_line(stream)
    }

    /// Ends it as an operator would; it prints its counts.
    fn stop(mut self) {
        let pid = self.child.id().to_string();
        std::process::Command::new("kill").arg(&pid).status().expect("kill runs");
        let mut rest = String::new();
        self.child.stdout.take().expect("piped").read_to_string(&mut rest).expect("read");
        let status = self.child.wait().expect("it ends");
        assert!(status.success() && rest.contains("\"requests\""), "{status}: {rest}");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}

fn first_line(mut stream: impl Read) -> String {
    let mut text = Vec::new();
    let _reset_after_a_refusal = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn limits_have_their_own_statuses() {
    let serving = Serving::start(
        1,
        &[
            "--listen",
            "tcp://127.0.0.1:0",
            "--max-head",
            "1k",
            "--max-body",
            "10",
            "--head-timeout",
            "1s",
            "--idle-timeout",
            "200ms",
        ],
    );
    let head = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(2000));
    assert_eq!(serving.status(&head), "HTTP/1.1 431 Request Header Fields Too Large");
    let body = "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world";
    assert_eq!(serving.status(body), "HTTP/1.1 413 Content Too Large");
    let mut silent = serving.connect();
    silent.write_all(b"GET / HT").expect("sent");
    assert_eq!(first_line(silent), "HTTP/1.1 408 Request Timeout");
    let mut idle = serving.connect();
    idle.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("sent");
    // Ends by itself.
    assert_eq!(first_line(idle), "HTTP/1.1 200 OK");
    serving.stop();
}

#[test]
fn pieces_of_a_body_are_no_larger_than_the_receive_size() {
    let lab = Lab::new();
    let app = "export default {
        async fetch(request) {
            let most = 0
            for await (const piece of request.body) most = Math.max(most, piece.length)
            return new Response(`most ${most}`)
        },
    }";
    let path = lab.file("app.js", app);
    let path = path.to_str().expect("UTF-8");
    let body = "x".repeat(1_000_000);
    let request = format!("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n{body}");
    // The second is the flag's former name.
    for (flag, size, most) in [("--receive-size", "8k", 8192), ("--buffer-size", "1k", 1024)] {
        let serving = Serving::start(1, &[path, "--listen", "tcp://127.0.0.1:0", flag, size]);
        let mut stream = serving.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.ends_with(&format!("most {most}")), "{answer}");
        serving.stop();
    }
}

#[test]
fn a_socket_without_a_file_is_listened_on() {
    let name = format!("onrush-serve-{}", std::process::id());
    let listen = format!("unix:@{name}");
    let serving = Serving::start(2, &["--listen", "127.0.0.1:0", "--listen", &listen, "--workers", "2"]);
    assert_eq!(serving.lines[1], format!("listening on {listen}"));
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let mut stream = UnixStream::connect_addr(&address).expect("it listens");
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("sent");
    assert_eq!(first_line(stream), "HTTP/1.1 200 OK");
    serving.stop();
}

#[test]
fn wrong_values_say_what_was_expected() {
    let lab = Lab::new();
    for (flags, want) in [
        (["--max-head", "64q"], "--max-head: found '64q', expected a size, as in 500, 64k or 10m"),
        (["--idle-timeout", "soon"], "--idle-timeout: found 'soon', expected a time, as in 500ms, 30s or 10m"),
        (["--receive-size", "0"], "--receive-size: found '0', expected a size, as in 500, 64k or 10m"),
    ] {
        let run = lab.onrush(&["serve", flags[0], flags[1]]);
        assert!(run.stderr.contains(want), "{run:?}");
        assert_ne!(run.code, 0);
    }
    let run = lab.onrush(&["serve", "--listen", "tls://127.0.0.1:0", "--certificate", "a.pem", "--key", "b.pem"]);
    assert!(run.stderr.contains("cannot read a.pem: "), "{run:?}");
}
