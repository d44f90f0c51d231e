//! A small HTTP/1.1 server for tests: one thread a connection, answers by path.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Starts a server on a free port; it lives as long as the process. Returns its address as `http://127.0.0.1:port`.
pub fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}")
}

fn serve(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let mut turns = [200, 404, 200].iter().cycle();
    while let Some(mut request) = read_request(&mut reader) {
        if request.path == "/turn" {
            request.path = format!("/status/{}", turns.next().unwrap());
        }
        if request.path == "/drop" {
            return;
        }
        let head_only = request.method == "HEAD";
        if writer.write_all(&answer(&request, head_only)).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body })
}

fn answer(request: &Request, head_only: bool) -> Vec<u8> {
    let mut extra = String::new();
    let mut status = 200;
    let mut body: Vec<u8> = Vec::new();
    match request.path.trim_start_matches('/').split_once('/').unwrap_or((request.path.trim_start_matches('/'), "")) {
        ("status", code) => status = code.parse().unwrap(),
        ("redirect", left) => {
            let left: u32 = left.parse().unwrap();
            let to = if left > 1 { format!("/redirect/{}", left - 1) } else { String::from("/text") };
            (status, extra) = (302, format!("Location: {to}\r\n"));
        }
        ("text", _) => (body, extra) = (b"hello".to_vec(), "X-Many: a\r\nX-Many: b\r\nx-lower: c\r\n".into()),
        ("bytes", _) => body = b"a\xff\xfe\xe2\x82\xac".to_vec(),
        ("json", _) => {
            body = br#"{"list": [{"name": "Al", "age": 10}, {"name": "Bo", "age": 20}, {"name": "Cy", "age": 30}], "a.b": true,
                "none": null}"#
                .to_vec();
        }
        ("gzip", _) => {
            let coded = wire::codec::encode(wire::codec::Coding::Gzip, &wire::Payload::from_bytes("zipped"));
            let coded = coded.expect("it is in memory");
            coded.read(|piece| body.extend_from_slice(piece)).expect("it is in memory");
            extra = "Content-Encoding: gzip\r\n".into();
        }
        ("cookies", _) => {
            extra = "Set-Cookie: a=1; Path=/; HttpOnly\r\nSet-Cookie: b=2; Path=/; Max-Age=100\r\n".into();
        }
        ("digest", _) if !request.headers.iter().any(|(_, value)| value.starts_with("Digest ")) => {
            (status, extra) = (401, "WWW-Authenticate: Digest realm=\"x\", nonce=\"abc\", qop=\"auth\"\r\n".into());
        }
        ("slow", _) => std::thread::sleep(Duration::from_millis(400)),
        ("echo", _) => body = echo(request),
        ("body", _) => body.clone_from(&request.body),
        _ => {}
    }
    let reason = if status == 200 { "OK" } else { "Other" };
    let length = if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let mut reply = format!("HTTP/1.1 {status} {reason}\r\n{length}{extra}\r\n").into_bytes();
    if !head_only {
        reply.extend_from_slice(&body);
    }
    reply
}

/// The request as JSON; bytes of the body as the characters of the same numbers.
fn echo(request: &Request) -> Vec<u8> {
    let body: String = request.body.iter().map(|byte| char::from(*byte)).collect();
    let json = serde_json::json!({
        "method": request.method, "path": request.path, "headers": request.headers, "body": body,
    });
    json.to_string().into_bytes()
}
