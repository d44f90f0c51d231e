//! What is fuzzed: every reader of text that comes from outside, with examples, words and what must hold.
//!
//! A subject that returns an error has broken a promise of its own (a URL that cannot read what it wrote); panics and
//! hangs are the driver's to notice. A script is only read and compiled: it begins with a `throw`.

use metrics::tags::TagFilter;
use metrics::threshold;
use script::options::Options;
use units::Span;
use wire::Url;
use wire::cookies::CookieJar;
use wire::ws::{Decoder, DeflateParams, Event as Frame, Role};

use super::scripts::Compiler;
use super::{conversions, network};

/// Reads one input; an error is a broken promise.
pub type Check = Box<dyn FnMut(&[u8]) -> Result<(), String>>;

/// Something that reads what others wrote.
pub struct Subject {
    /// Its name on the command line.
    pub name: &'static str,
    /// Inputs that are fine, to spoil.
    pub examples: &'static [&'static str],
    /// Words of its language.
    pub words: &'static [&'static str],
    /// Makes the check: servers and runtimes that it needs are started here, once.
    pub start: fn() -> Result<Check, String>,
}

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "url",
        examples: &[
            "http://user:p%40ss@example.test:8080/a/../b;c?d=e&f=g#h",
            "https://[::1%25eth0]:443/%ff%zz",
            "http://bücher.test/straße?ä=ö",
            "//host/path",
            "http://1.2.3.4",
        ],
        words: &["://", "@", "[", "]", "%", "?", "#", "..", "xn--", ":65536", "\\"],
        start: || Ok(Box::new(url)),
    },
    Subject {
        name: "set-cookie",
        examples: &[
            "a=b; Path=/; Domain=.example.test; Max-Age=3600; Secure; HttpOnly; SameSite=Lax",
            "sid=\"quoted\"; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
            "x=; expires=Thu, 01-Jan-70 00:00:10 GMT; path=a",
        ],
        words: &["; ", "=", "Expires=", "Max-Age=", "Domain=", "Path=", "31 Feb 9999 25:61:61 GMT"],
        start: || Ok(Box::new(set_cookie)),
    },
    Subject {
        name: "threshold",
        examples: &["p(99.9)<500", "rate>0.95", "count>=1e3", "avg < 200 ", "max!=0", "p( 95 )===1"],
        words: &["p(", ")", "<=", "===", "!=", "rate", "med", "count", "1e"],
        start: || Ok(Box::new(expression)),
    },
    Subject {
        name: "tag-filter",
        examples: &["status:200, group:::login", "url:\"http://a/\",method:'GET'", "a:b"],
        words: &[":", ",", "\"", "'", "::"],
        start: || Ok(Box::new(tag_filter)),
    },
    Subject {
        name: "duration",
        examples: &["1h2m3.5s", "-10ms", "1500", "2d", "1us", "3.14", "0"],
        words: &["h", "m", "s", "ms", "us", "µs", "ns", "d", ".", "-", "e"],
        start: || Ok(Box::new(duration)),
    },
    Subject {
        name: "options",
        examples: &[
            r#"{"vus":5,"duration":"10s","thresholds":{"http_req_duration{status:200}":["p(95)<500",
            {"threshold":"rate>0.9","abortOnFail":true,"delayAbortEval":"10s"}]}}"#,
            r#"{"scenarios":{"a":{"executor":"ramping-arrival-rate","startRate":5,"timeUnit":"1s",
            "preAllocatedVUs":3,"maxVUs":9,"stages":[{"target":50,"duration":"1m"},{"target":0,
            "duration":"0s"}]},"b":{"executor":"constant-vus","vus":2,"duration":"5s","startTime":"1s",
            "gracefulStop":"0s","env":{"A":"b"},"tags":{"c":"d"},"exec":"f"}}}"#,
            r#"{"stages":[{"duration":"5s","target":10}],"executionSegment":"1/3:1/2",
            "executionSegmentSequence":"0,1/3,1/2,1"}"#,
            r#"{"scenarios":{"s":{"executor":"shared-iterations","vus":3,"iterations":10,"maxDuration":"1h"},
            "p":{"executor":"per-vu-iterations"},"r":{"executor":"ramping-vus","startVUs":1,
            "gracefulRampDown":"3s","stages":[]}}}"#,
            r#"{"hosts":{"a.test":"1.2.3.4:80","*.b.test":"unix:/x"},"blacklistIPs":["10.0.0.0/8"],
            "blockHostnames":["*.c"],"dns":{"ttl":"5m","select":"random","policy":"any"},
            "localIPs":"10.0.0.1-10.0.0.9","tlsVersion":{"min":"tls1.2","max":"tls1.3"},"systemTags":["url"],
            "summaryTrendStats":["p(99)"]}"#,
        ],
        words: &["null", "true", "[", "]", "{", "}", ",", ":", "\"\"", "\"1/2\"", "-", "1e99"],
        start: || Ok(Box::new(options)),
    },
    Subject {
        name: "script",
        examples: &[
            "import http from 'k6/http'; export default function () { http.get(`a${1}b`); }",
            "interface A<T> { b?: T } enum E { X = 1 } export const f = async <T,>(a: A<T>): Promise<void> => \
             { await a; };",
            "const { a = 1, ...r } = require('./x.js'); module.exports = class extends Array \
             { static #p = 1n; get [a]() { return /re(?<n>x)/gu; } };",
            "label: for (const x of [1, , 2]) { if (x ?? 0) continue label; else break } export * as ns from './y.js';",
            "export let options = { scenarios: { 'ü': {} } }; /* c */ // d\n\u{2028} var \\u0061b = '\\x41\\u{1F600}';",
        ],
        words: &[
            "(",
            ")",
            "{",
            "}",
            "[",
            "]",
            "`${",
            "/*",
            "=>",
            "async ",
            "await ",
            "import ",
            "export ",
            "class ",
            "<T>",
            "?.",
            "...",
            "#",
            "@",
            "\\u{",
            "declare ",
            "namespace N {",
            "/(?<=",
        ],
        start: scripts,
    },
    Subject {
        name: "response",
        examples: &[
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: a=b; Path=/\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;x=y\r\nhello\r\n0\r\nX: y\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 204 No Content\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", qop=\"auth,auth-int\", nonce=\"n\", \
             opaque=\"o\", algorithm=MD5, stale=true\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, deflate, br, zstd\r\nContent-Length: \
             4\r\n\r\n\u{1f}\u{8b}\u{8}\0",
            "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n",
        ],
        words: &[
            "\r\n",
            "\r\n\r\n",
            "Content-Length: ",
            "Transfer-Encoding: chunked\r\n",
            "HTTP/1.1 ",
            "0\r\n\r\n",
            ": ",
            "fffffffffffffffff\r\n",
            "Content-Encoding: gzip\r\n",
            "WWW-Authenticate: Digest ",
            "Connection: close\r\n",
        ],
        start: network::responses,
    },
    Subject {
        name: "http2",
        examples: &[
            "\0\0\0\u{4}\0\0\0\0\0\0\0\u{6}\u{1}\u{4}\0\0\0\u{1}\u{88}\u{40}\u{1}x\u{1}y\
             \0\0\u{5}\0\u{1}\0\0\0\u{1}hello",
            "\0\0\u{6}\u{4}\0\0\0\0\0\0\u{4}\0\u{1}\0\0\0\0\u{8}\u{6}\0\0\0\0\0pingpong\
             \0\0\r\u{1}\u{5}\0\0\0\u{1}\0\u{7}:status\u{3}204",
            "\0\0\0\u{4}\0\0\0\0\0\0\0\u{1}\u{1}\0\0\0\0\u{1}\u{88}\0\0\0\t\u{4}\0\0\0\u{1}\
             \0\0\u{4}\0\u{8}\0\0\0\u{1}\u{2}a\0\0\0\0\u{8}\u{7}\0\0\0\0\0\0\0\0\u{1}\0\0\0\0\
             \0\0\u{4}\u{8}\0\0\0\0\0\0\0\0\u{9}\0\0\u{4}\u{3}\0\0\0\0\u{1}\0\0\0\u{8}",
        ],
        words: &[
            "\0\0\0\u{4}\u{1}\0\0\0\0",
            "\0\0\u{4}\u{8}\0\0\0\0\u{1}\u{7f}\u{ff}\u{ff}\u{ff}",
            "\0\0\u{1}\u{1}\u{5}\0\0\0\u{1}\u{88}",
            "\0\0\0\0\u{1}\0\0\0\u{1}",
            "\u{be}",
            "\u{3f}\u{e1}\u{1f}",
            "\u{7f}\u{ff}",
            "\u{1}",
            "\u{8}",
        ],
        start: network::frames,
    },
    Subject {
        name: "request",
        examples: &[
            "GET /get?a=b&c HTTP/1.1\r\nHost: x\r\nCookie: a=b; c\r\n\r\n",
            "POST /post HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\":[1]}",
            "PUT /anything HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: \
             100-continue\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "POST /post HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: \
             68\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"g\"\r\n\r\nx\r\n--b--\r\n",
            "GET /digest-auth/auth/u/p HTTP/1.1\r\nHost: x\r\nAuthorization: Digest username=\"u\", realm=\"onrush\", \
             nonce=\"n\", uri=\"/\", response=\"r\"\r\n\r\n",
            "GET /bytes/20 HTTP/1.0\r\nRange: bytes=1-3\r\n\r\nGET /redirect/2 HTTP/1.1\r\nHost: x\r\n\r\n",
        ],
        words: &[
            "\r\n",
            "\r\n\r\n",
            " HTTP/1.1\r\n",
            "Content-Length: ",
            "Transfer-Encoding: chunked\r\n",
            "/stream/",
            "/status/",
            "%",
            "?",
        ],
        start: network::requests,
    },
    Subject {
        name: "websocket",
        examples: &[
            "\u{1}\u{3}Hel\u{9}\0\0\u{2}lo",
            "\u{2}\u{7e}\u{1}\0 and more",
            "text and binary and \u{8}\u{2}\u{3}\u{e8}",
        ],
        words: &["\u{1}", "\u{2}", "\u{8}", "\u{9}", "\u{7e}", "\u{7f}", "\0\0\0\0\0\0\0\u{1}", "\u{3}\u{8}"],
        start: || Ok(Box::new(websocket)),
    },
    conversions::HAR,
    conversions::OPENAPI,
    conversions::POSTMAN,
    conversions::JMETER,
    conversions::LINES,
    conversions::LOG,
    conversions::WRK,
];

/// Frames come out the same in whatever pieces they went in, and never more of them than the limit. The first byte says
/// who reads and with what agreement; high bits, which spoiled text rarely has, are put back from it.
fn websocket(input: &[u8]) -> Result<(), String> {
    const LIMIT: usize = 4096;
    let Some((&mode, frames)) = input.split_first() else { return Ok(()) };
    let role = if mode & 1 == 0 { Role::Client } else { Role::Server };
    let deflate = (mode & 2 != 0).then(DeflateParams::default);
    let mut frames = frames.to_vec();
    for (at, byte) in frames.iter_mut().enumerate().take(16) {
        *byte ^= if at % 2 == 0 { mode & 0xc0 } else { (mode << 5) & 0x80 };
    }
    let read = |step: usize| {
        let mut decoder = Decoder::new(role, deflate, LIMIT);
        let mut seen = Vec::new();
        for mut piece in frames.chunks(step) {
            loop {
                match decoder.next(&mut piece) {
                    Ok(Some(Frame::Binary(bytes))) if bytes.len() > LIMIT => return Err("more than the limit"),
                    Ok(Some(Frame::Text(text))) if text.len() > LIMIT => return Err("more than the limit"),
                    Ok(Some(event)) => seen.push(format!("{event:?}")),
                    Ok(None) => break,
                    Err(violation) => {
                        seen.push(violation.code.to_string());
                        return Ok(seen);
                    }
                }
            }
        }
        Ok(seen)
    };
    let (whole, bytewise) = (read(usize::MAX)?, read(1)?);
    if whole != bytewise { Err(format!("whole {whole:?}, byte by byte {bytewise:?}")) } else { Ok(()) }
}

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

fn url(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let base = Url::parse("http://base.test/a/b?c").map_err(|error| format!("a good URL is refused: {error:?}"))?;
    let _ = base.join(&text);
    let Ok(url) = Url::parse(&text) else { return Ok(()) };
    let again =
        Url::parse(url.full_text()).map_err(|error| format!("cannot read its own {}: {error:?}", url.full_text()))?;
    if again.host != url.host || again.port != url.port || again.target != url.target {
        return Err(format!("{} reads as {} {} {}", url.full_text(), again.host, again.port, again.target));
    }
    let is_clean = |part: &str| part.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    if !is_clean(&url.target) || !is_clean(&url.authority) {
        return Err(format!("would break a request head: {:?} {:?}", url.authority, url.target));
    }
    Ok(())
}

fn set_cookie(input: &[u8]) -> Result<(), String> {
    let jar = CookieJar::default();
    let url =
        Url::parse("https://www.example.test/a/b").map_err(|error| format!("a good URL is refused: {error:?}"))?;
    jar.set_from_header(&url, input);
    let sent = jar.for_url(&url);
    match sent.iter().find(|(name, value)| format!("{name}{value}").contains(['\r', '\n', '\0'])) {
        Some(cookie) => Err(format!("would break a request head: {cookie:?}")),
        None => Ok(()),
    }
}

fn expression(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let Err(error) = threshold::parse(&text) else { return Ok(()) };
    // The span is what a caret is drawn under.
    match text.get(error.span.clone()) {
        Some(_) => Ok(()),
        None => Err(format!("span {:?} is not in {text:?}", error.span)),
    }
}

fn tag_filter(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    match TagFilter::parse(&text) {
        Err(error) if text.get(error.span.clone()).is_none() => {
            Err(format!("span {:?} is not in {text:?}", error.span))
        }
        _ => Ok(()),
    }
}

fn duration(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let _ = Span::from_json(&serde_json::Value::String(text.clone()));
    let Ok(span) = Span::parse(&text) else { return Ok(()) };
    let _ = span.to_duration();
    match Span::parse(&span.to_string()) {
        Ok(again) if again == span => Ok(()),
        other => Err(format!("{text:?} is shown as {span}, which reads as {other:?}")),
    }
}

fn options(input: &[u8]) -> Result<(), String> {
    let Ok(json) = serde_json::from_slice(input) else { return Ok(()) };
    let Ok((options, _)) = Options::from_json(&json, "the script") else { return Ok(()) };
    let _ = options.to_json();
    let _ = options.network_settings();
    if let Ok(derived) = options.execution.clone().derive() {
        let stripes = engine::segment::Stripes::whole();
        let _ = engine::Plan::new(&derived.scenarios, &stripes, 2);
    }
    Ok(())
}

/// Scripts are read, stripped of types and compiled, and end at once.
fn scripts() -> Result<Check, String> {
    let compiler = Compiler::new()?;
    Ok(Box::new(move |input| {
        let name = if input.len().is_multiple_of(2) { "script.js" } else { "script.ts" };
        match compiler.load(name, &text(input)) {
            Err(error) if error.is_empty() => Err(String::from("an error without a text")),
            Err(_) => Ok(()),
            Ok(()) => Err(String::from("a script that throws was loaded")),
        }
    }))
}
