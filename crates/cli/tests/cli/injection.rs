//! Text of scripts, options and flags that would end its line of a request head and begin another one: each is refused
//! by name, and the server sees nothing of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::lab::Lab;

/// A server that keeps every byte that arrives. It answers each head: a digest challenge where the path asks for one,
/// else 200.
struct Ear {
    address: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Ear {
    fn start() -> Ear {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let all = Arc::clone(&all);
                std::thread::spawn(move || listen(stream, &all));
            }
        });
        Ear { address, heard }
    }

    fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().expect("whole")).into_owned()
    }
}

fn listen(mut stream: TcpStream, all: &Mutex<Vec<u8>>) -> Option<()> {
    let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let n = stream.read(&mut buffer).ok().filter(|n| *n > 0)?;
        head.extend_from_slice(&buffer[..n]);
        all.lock().expect("whole").extend_from_slice(&buffer[..n]);
        if head.ends_with(b"\r\n\r\n") {
            let challenge = "401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
            let status = if head.starts_with(b"GET /digest") { challenge } else { "200 OK" };
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").ok()?;
            head.clear();
        }
    }
}

const SCRIPT: &str = r#"
import http from 'k6/http'
import ws from 'k6/ws'
import { WebSocket } from 'k6/websockets'
import { FormData } from 'onrush/http'
import { Request } from 'k6/x/fasthttp'
export const options = { throw: true }
const BAD = 'a\r\nEvil: 1'
const url = `http://${__ENV.AT}/`
const wsUrl = `ws://${__ENV.AT}/`
export default function () {
  const attempt = (name, f) => {
    try { f(); console.log(`${name}: sent`) } catch (e) { console.log(`${name}: ${e.message ?? e}`) }
  }
  attempt('method', () => http.request(BAD, url))
  attempt('path', () => http.get(url + BAD))
  attempt('query', () => http.get(`${url}?q=${BAD}`))
  attempt('host', () => http.get(`http://${BAD}/`))
  attempt('header name', () => http.get(url, { headers: { [BAD]: 'x' } }))
  attempt('header value', () => http.get(url, { headers: { 'X-A': BAD } }))
  attempt('Host', () => http.get(url, { headers: { Host: BAD } }))
  attempt('User-Agent', () => http.get(url, { headers: { 'User-Agent': BAD } }))
  attempt('cookie name', () => http.get(url, { cookies: { [BAD]: 'x' } }))
  attempt('cookie value', () => http.get(url, { cookies: { c: { value: BAD, replace: true } } }))
  attempt('jar', () => http.cookieJar().set(url, 'c', BAD))
  attempt('jar name', () => http.cookieJar().set(url, BAD, 'x'))
  const jar = http.cookieJar()
  jar.set(url, 'fine', '1')
  attempt('Cookie beside a jar', () => http.get(url, { headers: { Cookie: BAD } }))
  attempt('Cookie beside a jar, WebSocket', () => ws.connect(wsUrl, { headers: { Cookie: BAD } }, () => {}))
  attempt('digest user', () => http.get(`http://u%0d%0aEvil: 1:p@${__ENV.AT}/digest`.replace(' ', ''),
    { auth: 'digest' }))
  attempt('WebSocket header', () => ws.connect(wsUrl, { headers: { 'X-A': BAD } }, () => {}))
  attempt('WebSocket protocol header', () => ws.connect(wsUrl,
    { headers: { 'Sec-WebSocket-Protocol': BAD } }, () => {}))
  attempt('WebSocket path', () => ws.connect(wsUrl + BAD, {}, () => {}))
  attempt('WebSocket subprotocol', () => new WebSocket(wsUrl, BAD))
  attempt('WebSocket subprotocols', () => new WebSocket(wsUrl, ['fine', BAD]))
  attempt('http.file type', () => http.post(url, { f: http.file('x', 'f.txt', BAD) }))
  attempt('FormData type', () => new FormData().append('f', http.file('x', 'f.txt', BAD)))
  attempt('fasthttp host', () => http.get(url, { headers: { Host: new Request(url, { host: BAD }).host } }))
}
"#;

/// A place and what is said about it; `@` stands for the server.
const REFUSALS: &[(&str, &str)] = &[
    ("method", r#"a\r\nevil: 1 "http://@/": net/http: invalid method "a\r\nEvil: 1""#),
    ("path", r#"invalid URL: parse "http://@/a\r\nEvil: 1": net/url: invalid control character in URL"#),
    ("query", r#"invalid URL: parse "http://@/?q=a\r\nEvil: 1": net/url: invalid control character in URL"#),
    ("host", r#"invalid URL: parse "http://a\r\nEvil: 1/": net/url: invalid control character in URL"#),
    ("header name", r#"Get "http://@/": net/http: invalid header field name "a\r\nEvil: 1""#),
    ("header value", r#"Get "http://@/": net/http: invalid header field value for "X-A""#),
    ("Host", r#"Get "http://@/": net/http: invalid header field value for "Host""#),
    ("User-Agent", r#"Get "http://@/": net/http: invalid header field value for "User-Agent""#),
    (
        "cookie name",
        r#"Get "http://@/": invalid name of the cookie "a\r\nEvil: 1": found a line break (\r) at byte 1, EXPECTED"#,
    ),
    (
        "cookie value",
        r#"Get "http://@/": invalid value of the cookie "c": found a line break (\r) at byte 1, EXPECTED"#,
    ),
    ("jar", r#"invalid value of the cookie "c": found a line break (\r) at byte 1, EXPECTED"#),
    ("jar name", r#"invalid name of the cookie "a\r\nEvil: 1": found a line break (\r) at byte 1, EXPECTED"#),
    ("Cookie beside a jar", r#"Get "http://@/": net/http: invalid header field value for "Cookie""#),
    ("Cookie beside a jar, WebSocket", r#"net/http: invalid header field value for "Cookie""#),
    ("digest user", r#"net/http: invalid header field value for "Authorization""#),
    ("WebSocket header", r#"net/http: invalid header field value for "X-A""#),
    ("WebSocket protocol header", r#"net/http: invalid header field value for "Sec-Websocket-Protocol""#),
    ("WebSocket path", r#"parse "ws://@/a\r\nEvil: 1": net/url: invalid control character in URL"#),
    ("WebSocket subprotocol", r#"WebSocket subprotocol "a\r\nEvil: 1": found a line break (\r) at byte 1, EXPECTED"#),
    ("WebSocket subprotocols", r#"WebSocket subprotocol "a\r\nEvil: 1": found a line break (\r) at byte 1, EXPECTED"#),
    (
        "http.file type",
        r#"http.file "f.txt": the content type "a\r\nEvil: 1": found a line break (\r) at byte 1, EXPECTED"#,
    ),
    (
        "FormData type",
        r#"FormData.append: field "f": the content type "a\r\nEvil: 1": found a line break (\r) at byte 1, EXPECTED"#,
    ),
    ("fasthttp host", r#"Get "http://@/": net/http: invalid header field value for "Host""#),
];

#[test]
fn a_script_cannot_add_lines_to_a_head() {
    let (lab, ear) = (Lab::with(SCRIPT), Ear::start());
    let at = format!("AT={}", ear.address);
    let run = lab.run(&["-e", &at, "--log-format", "raw"]).code(0);
    let found: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(found.len(), REFUSALS.len(), "{}", run.stderr);
    for (line, (place, refusal)) in found.into_iter().zip(REFUSALS) {
        let line = line
            .replace(&ear.address, "@")
            .replace("expected text that fits into one line of a request head", "EXPECTED");
        assert!(line.starts_with(&format!("{place}: ")) && line.ends_with(refusal), "{line}\nexpected {refusal}");
    }
    // The digest dialogue begins without the user's name.
    assert!(ear.heard().starts_with("GET /digest HTTP/1.1\r\n"), "{}", ear.heard());
    assert!(!ear.heard().to_lowercase().contains("evil"), "{}", ear.heard());
}

#[test]
fn a_user_agent_with_a_line_break_is_refused_wherever_it_comes_from() {
    let problem = "found a line break (\\r) at byte 1, expected text that fits into one line of a request head";
    let plain = "export default function () {}";
    let bad = "a\r\nEvil: 1";
    let shown = r#""a\r\nEvil: 1""#;
    let lab = Lab::with(r"export const options = { userAgent: 'a\r\nEvil: 1' }; export default function () {}");
    lab.run(&[]).code(104).says(&format!("'userAgent': {shown}: {problem}"));
    let lab = Lab::with(plain);
    lab.run(&["--user-agent", bad]).code(255).says(&format!("--user-agent: {shown}: {problem}"));
    let mut command = lab.command(&["run", "script.js"]);
    command.env("K6_USER_AGENT", bad);
    crate::lab::finish(command).code(104).says(&format!("K6_USER_AGENT: {shown}: {problem}"));
    lab.file("config.json", r#"{ "userAgent": "a\r\nEvil: 1" }"#);
    let refused = lab.run(&["--config", "config.json"]).code(104);
    refused.says(&format!("options of config.json: 'userAgent': {shown}: {problem}"));
    let lab = Lab::with(
        r"import { Client } from 'k6/x/fasthttp'; new Client({ user_agent: 'a\r\nEvil: 1' });
        export default function () {}",
    );
    lab.run(&[]).code(107).says(&format!("fasthttp Client: user_agent: {problem}"));
}

#[test]
fn flags_of_quick_mode_cannot_add_lines_either() {
    let (lab, ear) = (Lab::new(), Ear::start());
    let url = format!("http://{}/", ear.address);
    for (flag, value, found) in [
        ("--user-agent", "a\r\nEvil: 1", "found a line break (\\r) at byte 1"),
        ("--referer", "a\nEvil: 1", "found a line break (\\n) at byte 1"),
        ("--cookie", "a=b\r\nEvil: 1", "found a line break (\\r) at byte 3"),
        ("--range", "0-1\nEvil: 1", "found a line break (\\n) at byte 3"),
        ("--oauth2-bearer", "a\u{1b}b", "found a control character (\\u{1b}) at byte 1"),
        ("--header", "X: a\r\nEvil: 1", "found a line break (\\r) at byte 4"),
        ("--request", "A\r\nEvil: 1", "expected a method"),
        ("--form", "f=text;type=a/b\r\nEvil: 1", "type: found a line break (\\r) at byte 3"),
    ] {
        let run = lab.onrush(&["run", "-n", "1", flag, value, &url]);
        assert_ne!(run.code, 0, "{flag}");
        run.says(found);
    }
    assert_eq!(ear.heard(), "", "nothing was sent");
}
