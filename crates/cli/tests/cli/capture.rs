//! What a client sends, as text to compare: a server that answers everything with an empty 200 and keeps each request.
//!
//! Also read by `cargo xtask curl`, which has curl itself send the same. Left out is what may differ: order and case of
//! header names, the User-Agent of the tool, boundaries, how headers of one name are spread over lines, the length of
//! no body, and curl's `Expect`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Listens until the process ends.
pub struct Capture {
    /// `127.0.0.1:port`.
    pub address: String,
    arrived: Receiver<String>,
}

impl Capture {
    /// On a free port.
    pub fn start() -> std::io::Result<Capture> {
        Capture::answering("")
    }

    /// The same with a body in every answer.
    pub fn answering(body: &'static str) -> std::io::Result<Capture> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let (sender, arrived) = channel();
        let host = address.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (sender, host) = (sender.clone(), host.clone());
                std::thread::spawn(move || {
                    let Ok(mut writer) = stream.try_clone() else { return };
                    let mut reader = BufReader::new(stream);
                    while let Ok(Some(shown)) = receive(&mut reader, &mut writer, (&host, body)) {
                        if sender.send(shown).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Ok(Capture { address, arrived })
    }

    /// The next request, or what is wrong when there is none.
    pub fn next(&self) -> String {
        self.arrived.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| "no request arrived\n".to_owned())
    }
}

/// The requests that have arrived; nobody may be sending any more.
#[allow(dead_code, reason = "not every user of this file counts requests")]
pub fn arrived(server: &Capture) -> Vec<String> {
    server.arrived.try_iter().collect()
}

/// Files that the commands of the table send.
pub fn write_files(folder: &Path) -> std::io::Result<()> {
    std::fs::write(folder.join("text.txt"), "line one\r\nline two é\n")?;
    std::fs::write(folder.join("image.png"), b"\x89PNG\r\n\x1a\n\x00\xff\xfe")?;
    std::fs::write(folder.join("data.json"), "{\n  \"a\": 1\n}\n")?;
    std::fs::write(folder.join("headers.txt"), "X-One: 1\nX-Two: 2\n")
}

/// The commands of the table, each with the request that curl sends. `{@}` stands for the server.
pub fn cases(table: &str) -> Vec<(&str, &str)> {
    let blocks = table.split("\n$ ").skip(1);
    blocks
        .map(|block| block.split_once('\n').unwrap_or((block, "")))
        .map(|(line, sent)| (line, sent.trim_end()))
        .collect()
}

/// The command with the server's address in the places marked for it.
pub fn with_address(command: &str, address: &str) -> String {
    command.replace("{@}", address)
}

fn receive(
    reader: &mut BufReader<TcpStream>,
    writer: &mut TcpStream,
    (host, answer): (&str, &str),
) -> std::io::Result<Option<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let headers: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().replace(host, "HOST")))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap_or(0));
    if headers.iter().any(|(name, _)| name == "expect") {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", answer.len());
    writer.write_all((head + answer).as_bytes())?;
    Ok(Some(shown(&lines[0], headers, &body)))
}

fn shown(line: &str, mut headers: Vec<(String, String)>, body: &[u8]) -> String {
    let of_tool = |name: &str, value: &str| {
        name == "user-agent" && ["curl/", "Onrush/", "Grafana k6/", "k6/"].iter().any(|tool| value.starts_with(tool))
    };
    headers.retain(|(name, value)| {
        !of_tool(name, value) && name != "expect" && !(name == "content-length" && body.is_empty())
    });
    headers.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut text = format!("{}\n", line.trim_end_matches(" HTTP/1.1"));
    let boundary = headers.iter().find_map(|(_, value)| value.split_once("boundary=")).map(|(_, b)| b.to_owned());
    let mut last = String::new();
    for (name, value) in headers {
        let value = match (&boundary, name.as_str()) {
            (Some(_), "content-length") => continue,
            (Some(boundary), _) => value.replace(boundary, "BOUNDARY"),
            (None, _) => value,
        };
        if name == last {
            text.truncate(text.len() - 1);
            text.push_str(&format!(", {value}\n"));
            continue;
        }
        text.push_str(&format!("{name}: {value}\n"));
        last = name;
    }
    for line in body.split_inclusive(|b| *b == b'\n') {
        let line = line.escape_ascii().to_string();
        let line = boundary.as_ref().map_or(line.clone(), |boundary| line.replace(boundary.as_str(), "BOUNDARY"));
        text.push_str(&format!("| {line}\n"));
    }
    text
}
