//! A scripted HTTP/1.1 server on a port of its own that remembers what it was asked, and a client to ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onrush_wire::cookies::CookieJar;
use onrush_wire::hosts::FixedHosts;
use onrush_wire::request::{Auth, BodyUse};
use onrush_wire::{Body, Client, ClientContext, Exchange, Method, Payload, Request, Settings, Url};

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub peer: Option<IpAddr>,
}

impl Seen {
    /// All values of a header, joined by `|`; `-` when there is none.
    pub fn header(&self, name: &str) -> String {
        let values: Vec<&str> =
            self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str()).collect();
        if values.is_empty() { String::from("-") } else { values.join("|") }
    }
}

/// The server: answers each request with the bytes that the script returns.
pub struct Scripted {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

type Script = Arc<dyn Fn(&Seen) -> Vec<u8> + Send + Sync>;

impl Scripted {
    pub fn start(script: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Scripted { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let (seen, script): (_, Script) = (server.seen.clone(), Arc::new(script));
        // Ends with the process: the test binary.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, script) = (seen.clone(), script.clone());
                stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let peer = stream.peer_addr().ok().map(|a| a.ip());
                std::thread::spawn(move || {
                    let writer = stream.try_clone().unwrap();
                    serve(stream, writer, peer, &seen, &script)
                });
            }
        });
        server
    }

    /// The same on a unix socket.
    pub fn start_unix(listener: UnixListener, script: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Scripted {
        let server = Scripted { address: SocketAddr::from(([0, 0, 0, 0], 0)), seen: Arc::default() };
        let (seen, script): (_, Script) = (server.seen.clone(), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, script) = (seen.clone(), script.clone());
                std::thread::spawn(move || {
                    let writer = stream.try_clone().unwrap();
                    serve(stream, writer, None, &seen, &script)
                });
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// `METHOD target` of each request, in order.
    pub fn lines(&self) -> Vec<String> {
        self.seen().iter().map(|s| format!("{} {}", s.method, s.target)).collect()
    }

    pub fn last(&self) -> Seen {
        self.seen().pop().expect("the server was asked")
    }
}

fn serve(stream: impl Read, mut out: impl Write, peer: Option<IpAddr>, seen: &Mutex<Vec<Seen>>, script: &Script) {
    let mut input = BufReader::new(stream);
    while let Some(request) = read_request(&mut input, peer) {
        seen.lock().unwrap().push(request.clone());
        if out.write_all(&script(&request)).is_err() {
            return;
        }
    }
}

pub fn read_request(input: &mut impl BufRead, peer: Option<IpAddr>) -> Option<Seen> {
    let mut line = || {
        let mut line = String::new();
        let read = input.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    };
    let first = line()?;
    let (method, rest) = first.split_once(' ')?;
    let target = rest.strip_suffix(" HTTP/1.1")?;
    let mut headers = Vec::new();
    while let Some((name, value)) = line()?.split_once(": ") {
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length =
        headers.iter().find(|(n, _)| n.eq_ignore_ascii_case("content-length")).map_or(0, |(_, v)| v.parse().unwrap());
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some(Seen { method: method.to_owned(), target: target.to_owned(), headers, body, peer })
}

/// A response with these header lines.
pub fn response(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let lines: String = headers.iter().map(|h| format!("{h}\r\n")).collect();
    let mut out = format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    out.extend_from_slice(body);
    out
}

pub fn get(url: &str) -> Request {
    Request {
        method: Method::Get,
        url: Url::parse(url).unwrap(),
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

pub fn post(url: &str, body: &str) -> Request {
    Request { method: Method::Post, body: Some(Payload::from_bytes(body.to_owned())), ..get(url) }
}

pub fn headers(list: &[(&str, &str)]) -> Rc<[(String, String)]> {
    list.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>().into()
}

/// Sends one request with a client of its own; the hops and the result, in order.
pub fn send(settings: Settings, request: &Request, jar: Option<&CookieJar>) -> Vec<Exchange> {
    let mut all = send_all(settings, std::slice::from_ref(request), jar);
    all.pop().expect("one list a request")
}

/// Sends requests one after the other with one client.
pub fn send_all(settings: Settings, requests: &[Request], jar: Option<&CookieJar>) -> Vec<Vec<Exchange>> {
    run(async {
        let client = Client::new(ClientContext::new(Arc::new(settings)).unwrap());
        let mut all = Vec::new();
        for request in requests {
            let mut exchanges = Vec::new();
            let last = client.send(request, jar, &mut |hop| exchanges.push(hop.clone())).await;
            exchanges.push(*last);
            all.push(exchanges);
        }
        all
    })
}

pub fn run<T>(future: impl Future<Output = T>) -> T {
    onrush_wire::event_loop().unwrap().block_on(future)
}

/// Status, or kind of failure and message.
pub fn outcome(exchange: &Exchange) -> String {
    match &exchange.outcome {
        Ok(response) => response.status.to_string(),
        Err(failure) => format!("{:?}: {failure}", failure.kind),
    }
}

pub fn body(exchange: &Exchange) -> Vec<u8> {
    match &exchange.outcome {
        Ok(response) => match &response.body {
            Body::Kept(bytes) => bytes.to_vec(),
            other => panic!("body is {other:?}"),
        },
        Err(failure) => panic!("failed: {failure}"),
    }
}

/// Names that lead to fixed addresses.
pub fn fixed_hosts(pairs: &[(&str, &str)]) -> Arc<FixedHosts> {
    let pairs = pairs.iter().map(|(name, address)| (name.to_string(), address.to_string()));
    Arc::new(FixedHosts::read(&pairs.collect()).unwrap())
}
