//! A server of HTTP/1.1 that keeps what it is sent, as target and as collector.
//!
//! OTLP's messages of spans are decoded here by prost, so that a mistake of the product's own writer shows.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::Message;

/// A request: its head in small letters, and its body.
#[derive(Clone, Debug)]
pub struct Got {
    pub head: String,
    pub body: Vec<u8>,
}

impl Got {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// The server; lives as long as the test process.
pub struct Peer {
    pub url: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Peer {
    /// Answers after this time, with this status line and what belongs to it. `/go` leads to `/there`.
    pub fn start(delay: Duration, answer: &'static str) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let got = Arc::<Mutex<Vec<Got>>>::default();
        let kept = got.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = kept.clone();
                std::thread::spawn(move || serve(stream, delay, answer, &kept));
            }
        });
        Peer { url, got }
    }

    /// All requests so far.
    pub fn got(&self) -> Vec<Got> {
        self.got.lock().expect("nothing panics with it").clone()
    }

    /// The spans of all of them.
    pub fn spans(&self) -> Vec<Span> {
        let requests = self.got().into_iter().map(|got| Request::decode(got.body.as_slice()).expect("OTLP"));
        let scopes = requests.flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

/// Ends when the client is gone.
fn serve(stream: TcpStream, delay: Duration, answer: &str, kept: &Mutex<Vec<Got>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
            head.push_str(&line.to_lowercase());
            line.clear();
        }
        if head.is_empty() {
            return;
        }
        let mut got = Got { head, body: Vec::new() };
        got.body = vec![0; got.header("content-length").map_or(0, |text| text.trim().parse().expect("a number"))];
        if reader.read_exact(&mut got.body).is_err() {
            return;
        }
        let answer = if got.head.contains(" /go ") { "302 Found\r\nLocation: /there" } else { answer };
        kept.lock().expect("nothing panics with it").push(got);
        std::thread::sleep(delay);
        let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 2\r\n\r\nok");
        if reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

/// A span, as far as tests look at it.
#[derive(Clone, PartialEq, Message)]
pub struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(int32, tag = "6")]
    pub kind: i32,
    #[prost(fixed64, tag = "7")]
    pub start_ns: u64,
    #[prost(fixed64, tag = "8")]
    pub end_ns: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "11")]
    pub events: Vec<Event>,
    #[prost(message, optional, tag = "15")]
    pub status: Option<Status>,
}

/// Something within a span.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    #[prost(fixed64, tag = "1")]
    pub at_ns: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "3")]
    attributes: Vec<KeyValue>,
}

/// How a span ended.
#[derive(Clone, PartialEq, Message)]
pub struct Status {
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(int32, tag = "3")]
    pub code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    text: Option<String>,
    #[prost(int64, optional, tag = "3")]
    whole: Option<i64>,
    #[prost(double, optional, tag = "4")]
    number: Option<f64>,
}

impl Span {
    /// Its ids, as the header of the W3C has them.
    pub fn traceparent(&self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("00-{}-{}-01", hex(&self.trace_id), hex(&self.span_id))
    }

    /// An attribute as text; empty where there is none.
    pub fn attribute(&self, key: &str) -> String {
        shown(&self.attributes, key)
    }

    /// How long it took, in ms.
    pub fn took_ms(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e6
    }
}

impl Event {
    /// An attribute as text; empty where there is none.
    pub fn attribute(&self, key: &str) -> String {
        shown(&self.attributes, key)
    }
}

fn shown(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key).and_then(|found| found.value.clone());
    let Some(AnyValue { text, whole, number }) = found else { return String::new() };
    text.or(whole.map(|whole| whole.to_string())).or(number.map(|number| number.to_string())).unwrap_or_default()
}
