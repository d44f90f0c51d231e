//! The proxy: a thread for each connection, requests passed on by the client that tests use, answers handed back.
//!
//! Nothing is added to a request but what a proxy must change: headers of the hop. Answers go back with their content
//! codings undone and their length known. A request that nobody answers gives 502, and is recorded as such: left out of
//! the script, with a note.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use convert::recording::{Exchange, Payload};
use wire::request::{Auth, BodyUse};
use wire::room::Budget;
use wire::settings::TlsSettings;
use wire::{Body, Client, ClientContext, Method, Request, Response, Settings, Url};

use super::authority::Authority;
use super::message::Message;
use super::now_ns;

/// A request may take so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Answers up to this are looked into.
const TEXT: usize = 4 << 20;
/// Bytes of answers that all connections may hold at a time.
const MOST_HELD: usize = 256 << 20;

/// What all connections share.
pub struct Proxy {
    pub authority: Authority,
    pub is_insecure: bool,
    pub exchanges: Arc<Mutex<Vec<Exchange>>>,
    /// Bytes of answers that its connections hold.
    pub held: Arc<AtomicUsize>,
}

/// The bytes of answers that the proxy holds, as the budget of each connection's client.
struct HeldAnswers(Arc<AtomicUsize>);

impl Budget for HeldAnswers {
    fn take(&self, bytes: usize) -> Result<(), String> {
        let fits = |held: usize| held.checked_add(bytes).filter(|held| *held <= MOST_HELD);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.map(drop).map_err(|_| format!("the proxy holds no more than {MOST_HELD} bytes of answers at a time"))
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Headers of one hop (RFC 9110 section 7.6.1), and those that the client writes itself.
const OF_HOP: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Takes connections until the process ends.
pub fn serve(listener: &TcpListener, proxy: &Arc<Proxy>) {
    for stream in listener.incoming().flatten() {
        let proxy = proxy.clone();
        // A connection that fails is its client's to notice.
        let _ = std::thread::Builder::new().spawn(move || proxy.connection(stream));
    }
}

impl Proxy {
    fn connection(&self, stream: TcpStream) -> io::Result<()> {
        let sender = self.sender()?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream;
        loop {
            let mut goes_on = || writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
            let message = match Message::read(&mut reader, &mut goes_on) {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(error) => return refuse(&mut writer, 400, &error.to_string()),
            };
            if message.method == "CONNECT" {
                writer.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
                return self.tunnel(reader, writer, &message.target, &sender);
            }
            if !message.target.starts_with("http://") {
                return refuse(&mut writer, 400, "this is a proxy: the target of a request is a whole URL");
            }
            let (url, is_last) = (message.target.clone(), is_last(&message));
            self.pass_on(&sender, message, &url, &mut writer)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// HTTPS: the proxy answers as the server would.
    fn tunnel(&self, reader: BufReader<TcpStream>, writer: TcpStream, target: &str, sender: &Sender) -> io::Result<()> {
        let host = target.rsplit_once(':').map_or(target, |(host, _)| host).trim_matches(['[', ']']);
        let config = self.authority.server_of(host).map_err(io::Error::other)?;
        let session = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
        let mut stream = BufReader::new(rustls::StreamOwned::new(session, Joined { reader, writer }));
        let origin = format!("https://{}", target.strip_suffix(":443").unwrap_or(target));
        loop {
            if stream.fill_buf().is_ok_and(<[u8]>::is_empty) {
                return Ok(());
            }
            let Some(message) = Message::read(&mut stream, &mut || Ok(()))? else { return Ok(()) };
            let (url, is_last) = (format!("{origin}{}", message.target), is_last(&message));
            self.pass_on(sender, message, &url, stream.get_mut())?;
            stream.get_mut().flush()?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn pass_on(&self, sender: &Sender, message: Message, url: &str, writer: &mut impl Write) -> io::Result<()> {
        let (started_ns, started) = (now_ns(), Instant::now());
        let answer = sender.send(&message, url);
        let mut exchange = Exchange {
            started_ns,
            took_ms: started.elapsed().as_secs_f64() * 1e3,
            method: message.method,
            url: url.to_owned(),
            headers: message.headers,
            body: payload(message.body),
            ..Exchange::default()
        };
        let written = match &answer {
            Ok(response) => {
                // The client has counted it until now.
                let bytes = if let Body::Kept(bytes) = &response.body { bytes.len() } else { 0 };
                self.held.fetch_add(bytes, Ordering::Relaxed);
                describe(response, &mut exchange);
                let written = hand_back(response, writer);
                self.held.fetch_sub(bytes, Ordering::Relaxed);
                written
            }
            Err(why) => refuse(writer, 502, why),
        };
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push(exchange);
        written
    }

    fn sender(&self) -> io::Result<Sender> {
        let tls = TlsSettings { insecure_skip_verify: self.is_insecure, ..TlsSettings::default() };
        let settings = Settings { tls, ..Settings::default() };
        let context = ClientContext::new(Arc::new(settings)).map_err(|error| io::Error::other(error.message))?;
        let runtime = wire::event_loop()?;
        let client = Client::new(context);
        client.set_budget(Rc::new(HeldAnswers(self.held.clone())));
        Ok(Sender { runtime, client })
    }
}

/// The client of one connection.
struct Sender {
    runtime: tokio::runtime::LocalRuntime,
    client: Client,
}

impl Sender {
    fn send(&self, message: &Message, url: &str) -> Result<Response, String> {
        let url = Url::parse(url).map_err(|error| error.message)?;
        let is_sent = |name: &str| !OF_HOP.iter().any(|known| name.eq_ignore_ascii_case(known));
        let headers = message.headers.iter().filter(|(name, _)| is_sent(name)).cloned();
        let request = Request {
            method: Method::of(&message.method),
            url,
            headers: headers.collect(),
            cookies: Rc::new([]),
            body: (!message.body.is_empty()).then(|| wire::Payload::from_bytes(message.body.clone())),
            timeout: Some(PATIENCE),
            max_redirects: 0,
            auth: Auth::FromUserinfo,
            body_use: BodyUse::Keep,
            prior_knowledge: false,
            tls: None,
        };
        let all = tokio::task::LocalSet::new();
        let exchange = self.runtime.block_on(all.run_until(self.client.send(&request, None, &mut |_| {})));
        exchange.outcome.map_err(|failure| failure.to_string())
    }
}

/// Whether the client wants its connection closed behind the answer (RFC 9112 section 9.6).
fn is_last(message: &Message) -> bool {
    let of_connection = |(name, _): &&(String, String)| {
        name.eq_ignore_ascii_case("connection") || name.eq_ignore_ascii_case("proxy-connection")
    };
    let mut values = message.headers.iter().filter(of_connection).flat_map(|(_, value)| value.split(','));
    values.any(|value| value.trim().eq_ignore_ascii_case("close"))
}

fn payload(body: Vec<u8>) -> Payload {
    if body.is_empty() {
        return Payload::None;
    }
    String::from_utf8(body).map_or_else(|error| Payload::Bytes(error.into_bytes()), Payload::Text)
}

fn describe(response: &Response, exchange: &mut Exchange) {
    exchange.status = u64::from(response.status);
    let headers = response.headers();
    exchange.answer_headers =
        headers.map(|(name, value)| (name.to_owned(), String::from_utf8_lossy(value).into_owned())).collect();
    if let Body::Kept(bytes) = &response.body
        && bytes.len() <= TEXT
    {
        exchange.answer = std::str::from_utf8(bytes).ok().map(str::to_owned);
    }
}

/// The answer, with its length and without what belongs to the other hop.
fn hand_back(response: &Response, writer: &mut impl Write) -> io::Result<()> {
    const CHANGED: [&str; 6] =
        ["connection", "content-encoding", "content-length", "keep-alive", "trailer", "transfer-encoding"];
    let mut head = format!("HTTP/1.1 {} {}\r\n", response.status, response.reason()).into_bytes();
    for (name, value) in
        response.headers().filter(|(name, _)| !CHANGED.iter().any(|known| name.eq_ignore_ascii_case(known)))
    {
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    }
    let body: &[u8] = match &response.body {
        Body::Kept(bytes) => {
            head.extend_from_slice(format!("Content-Length: {}\r\n", bytes.len()).as_bytes());
            bytes
        }
        Body::Discarded(_) | Body::None => &[],
    };
    head.extend_from_slice(b"\r\n");
    writer.write_all(&head)?;
    writer.write_all(body)?;
    writer.flush()
}

fn refuse(writer: &mut impl Write, status: u16, why: &str) -> io::Result<()> {
    let body = format!("onrush record: {why}\n");
    let reason = if status == 502 { "Bad Gateway" } else { "Bad Request" };
    let head =
        format!("HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n", body.len());
    writer.write_all(head.as_bytes())?;
    writer.write_all(body.as_bytes())?;
    writer.flush()
}

/// A stream of which some has been read already.
struct Joined {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Read for Joined {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl Write for Joined {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.writer.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
