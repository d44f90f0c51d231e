//! The table of hostile requests: the bytes of each and what must come of them.

/// The request behind each of them.
pub const MARKER: &str = "GET /ip HTTP/1.1\r\nHost: marker\r\n\r\n";
/// Heads of this size are refused.
pub const HEAD: usize = 16 * 1024;
/// And bodies longer than that.
pub const BODY: u64 = 100_000;

/// What comes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// This status, then the end; nothing of what follows is looked at.
    Refused(u16),
    /// This status, and the connection continues with the marker.
    Served(u16),
    /// This status, the request having asked for the end.
    Last(u16),
    /// No complete request: the end without a word.
    Silent,
}
pub use Fate::{Last, Refused, Served, Silent};

/// A request to `/` with these header lines.
fn with(lines: &str) -> Vec<u8> {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n").into_bytes()
}

/// An upload with these header lines and body.
fn upload(lines: &str, body: &str) -> Vec<u8> {
    format!("POST /upload HTTP/1.1\r\nHost: a\r\n{lines}\r\n{body}").into_bytes()
}

/// A chunked upload.
fn chunked(body: &str) -> Vec<u8> {
    upload("Transfer-Encoding: chunked\r\n", body)
}

/// The request line, with a host.
fn line(line: &str) -> Vec<u8> {
    format!("{line}\r\nHost: a\r\n\r\n").into_bytes()
}

fn raw(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    bytes.as_ref().to_vec()
}

/// Every case: its bytes and its fate.
pub fn table() -> Vec<(Vec<u8>, Fate)> {
    let mut table = Vec::new();
    for part in [
        request_lines,
        request_targets,
        line_ends,
        header_lines,
        hosts,
        lengths,
        codings,
        chunks,
        trailers,
        sizes,
        bodies,
    ] {
        table.extend(part());
    }
    table
}

fn request_lines() -> Vec<(Vec<u8>, Fate)> {
    vec![
        (line("GET /"), Refused(400)),
        (line("GET"), Refused(400)),
        (line(""), Refused(400)),
        (line("GET  / HTTP/1.1"), Refused(400)),
        (line("GET /  HTTP/1.1"), Refused(400)),
        (line("GET / HTTP/1.1 "), Refused(400)),
        (line("GET / HTTP/1.1 x"), Refused(400)),
        (line(" GET / HTTP/1.1"), Refused(400)),
        (line("\tGET / HTTP/1.1"), Refused(400)),
        (line("GET\t/\tHTTP/1.1"), Refused(400)),
        (line("GET /a b HTTP/1.1"), Refused(400)),
        (line("GET / HTTP/1.1\rX: y"), Refused(400)),
        (line("GET /\0 HTTP/1.1"), Refused(400)),
        (line("GET /\x7f HTTP/1.1"), Refused(400)),
        (line("GET /\u{e9} HTTP/1.1"), Refused(400)),
        (raw(b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n"), Refused(400)),
        (line("GET /#top HTTP/1.1"), Refused(400)),
        (line("G@T / HTTP/1.1"), Refused(400)),
        (line("GET: / HTTP/1.1"), Refused(400)),
        (line("G\0T / HTTP/1.1"), Refused(400)),
        (line("(GET) / HTTP/1.1"), Refused(400)),
        (line("GET / HTTP/1.2"), Refused(505)),
        (line("GET / HTTP/2.0"), Refused(505)),
        (line("GET / HTTP/3.0"), Refused(505)),
        (line("GET / HTTP/0.9"), Refused(505)),
        (line("GET / HTTP/9.9"), Refused(505)),
        (line("GET / http/1.1"), Refused(400)),
        (line("GET / HTTP/1,1"), Refused(400)),
        (line("GET / HTTP/11"), Refused(400)),
        (line("GET / HTTP/1.10"), Refused(400)),
        (line("GET / HTTP/ 1.1"), Refused(400)),
        (line("GET / HTTPS/1.1"), Refused(400)),
        (line("GET / ICY/1.1"), Refused(400)),
    ]
}

fn request_targets() -> Vec<(Vec<u8>, Fate)> {
    vec![
        (line("GET * HTTP/1.1"), Refused(400)),
        (line("OPTIONS ** HTTP/1.1"), Refused(400)),
        (line("GET index HTTP/1.1"), Refused(400)),
        (line("GET ../etc/passwd HTTP/1.1"), Refused(400)),
        (line("CONNECT a:443 HTTP/1.1"), Refused(400)),
        (line("GET http:/ HTTP/1.1"), Refused(400)),
        (line("GET http:/// HTTP/1.1"), Refused(400)),
        (line("GET ftp://a/ HTTP/1.1"), Refused(400)),
        (line("GET javascript://a/ HTTP/1.1"), Refused(400)),
        (line("GET http://user@a/ HTTP/1.1"), Refused(400)),
        (line("GET http://user:pass@a/ HTTP/1.1"), Refused(400)),
        (line("GET http://a b/ HTTP/1.1"), Refused(400)),
        (line("GET http://a?/ip HTTP/1.1"), Refused(400)),
        (line("GET http://a:port/ HTTP/1.1"), Refused(400)),
        (line("GET http://[::1/ HTTP/1.1"), Refused(400)),
        (line("GET http://a/ HTTP/1.1"), Served(200)),
        (line("GET http://b HTTP/1.1"), Served(200)),
        (line("GET //a/../ip HTTP/1.1"), Served(404)),
        (line("GET /%00%0d%0a HTTP/1.1"), Served(404)),
        (line("GET /../../etc/passwd HTTP/1.1"), Served(404)),
        (line("FOO / HTTP/1.1"), Served(200)),
        (line("get /get HTTP/1.1"), Served(405)),
        (line("PRI * HTTP/2.0"), Refused(505)),
        (raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 tls to a plain port\r\n\r\n"), Refused(400)),
        (raw(b"\0\0\0\0\r\n\r\n"), Refused(400)),
        (raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), Refused(400)),
    ]
}

fn line_ends() -> Vec<(Vec<u8>, Fate)> {
    vec![
        (raw("GET / HTTP/1.1\nHost: a\r\n\r\n"), Refused(400)),
        (raw("GET / HTTP/1.1\r\nHost: a\n\r\n"), Refused(400)),
        (raw("GET / HTTP/1.1\r\nHost: a\r\n\n"), Refused(400)),
        (raw("GET / HTTP/1.1\nHost: a\n\n"), Refused(400)),
        (raw("GET / HTTP/1.0\n\n"), Refused(400)),
        (raw("GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"), Refused(400)),
        (raw("GET / HTTP/1.1\r\nHost: a\rX: y\r\n\r\n"), Refused(400)),
        (raw("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"), Refused(400)),
        (raw("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"), Refused(400)),
        (raw("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Refused(400)),
        (raw("\r\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Refused(400)),
        (raw("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Refused(400)),
        // RFC 9112 section 2.2: empty lines in front are skipped.
        (raw("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Served(200)),
        (raw("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Served(200)),
    ]
}

fn header_lines() -> Vec<(Vec<u8>, Fate)> {
    vec![
        (with("X : y\r\n"), Refused(400)),
        (with("X\t: y\r\n"), Refused(400)),
        (with(" X: y\r\n"), Refused(400)),
        (with("X: y\r\n z\r\n"), Refused(400)),
        (with("X: y\r\n\tz\r\n"), Refused(400)),
        (with("X: y\r\n \r\n"), Refused(400)),
        (with("X y\r\n"), Refused(400)),
        (with("X\r\n"), Refused(400)),
        (with(": y\r\n"), Refused(400)),
        (with("X\0: y\r\n"), Refused(400)),
        (with("X: \0\r\n"), Refused(400)),
        (with("X: a\x01b\r\n"), Refused(400)),
        (with("X: a\x7fb\r\n"), Refused(400)),
        (with("X: a\x0bb\r\n"), Refused(400)),
        (with("X\u{e9}: y\r\n"), Refused(400)),
        (with("X(: y\r\n"), Refused(400)),
        (with("X,Y: y\r\n"), Refused(400)),
        (with("\"X\": y\r\n"), Refused(400)),
        (with("Expect: tea\r\n"), Refused(417)),
        (with("Expect: 100-continue, tea\r\n"), Refused(417)),
        (with("Expect: 100-continue\r\n"), Served(200)),
        (with("X:\r\n"), Served(200)),
        (with("X:\t y \t\r\n"), Served(200)),
        (with("X: \u{e9}\r\n"), Served(200)),
        (with("Connection: nonsense, , \r\n"), Served(200)),
        (with("Connection: close\r\n"), Last(200)),
        (with("Connection: keep-alive, close\r\n"), Last(200)),
        (with("Connection: keep-alive\r\nConnection: CLOSE\r\n"), Last(200)),
        (raw("GET / HTTP/1.0\r\n\r\n"), Last(200)),
        (raw("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), Served(200)),
        (with("Upgrade: h2c\r\nConnection: Upgrade\r\n"), Served(200)),
        (with("Upgrade: websocket\r\nConnection: Upgrade\r\n"), Served(200)),
    ]
}

fn hosts() -> Vec<(Vec<u8>, Fate)> {
    let host = |value: &str| raw(format!("GET / HTTP/1.1\r\nHost: {value}\r\n\r\n"));
    vec![
        (raw("GET / HTTP/1.1\r\n\r\n"), Refused(400)),
        (raw("GET http://a/ HTTP/1.1\r\n\r\n"), Refused(400)),
        (with("Host: a\r\n"), Refused(400)),
        (with("Host: b\r\n"), Refused(400)),
        (with("hOST: b\r\n"), Refused(400)),
        (raw("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), Refused(400)),
        (host("a b"), Refused(400)),
        (host("a, b"), Refused(400)),
        (host("a/b"), Refused(400)),
        (host("u@a"), Refused(400)),
        (host("http://a"), Refused(400)),
        (host("a:b"), Refused(400)),
        (host("a:1:2"), Refused(400)),
        (host("a:1234567"), Refused(400)),
        (host("[::1"), Refused(400)),
        (host("::1"), Refused(400)),
        (host("<a>"), Refused(400)),
        (host("a\\b"), Refused(400)),
        (host("a?b"), Refused(400)),
        (host("a#b"), Refused(400)),
        (host("\u{e9}"), Refused(400)),
        (host(""), Served(200)),
        (host("[::1]:80"), Served(200)),
        (host("a."), Served(200)),
    ]
}

fn lengths() -> Vec<(Vec<u8>, Fate)> {
    let length = |value: &str| upload(&format!("Content-Length: {value}\r\n"), "");
    vec![
        (length(""), Refused(400)),
        (length("-1"), Refused(400)),
        (length("+5"), Refused(400)),
        (length("5 5"), Refused(400)),
        (length("5,5"), Refused(400)),
        (length("5, 6"), Refused(400)),
        (length("0x5"), Refused(400)),
        (length("5.0"), Refused(400)),
        (length("5e0"), Refused(400)),
        (length("1_000"), Refused(400)),
        (length("five"), Refused(400)),
        (length("\u{665}"), Refused(400)),
        (length("18446744073709551616"), Refused(400)),
        (length("99999999999999999999999999999999"), Refused(400)),
        (length("18446744073709551615"), Refused(413)),
        (length("9223372036854775808"), Refused(413)),
        (length("0"), Served(200)),
        (length("000"), Served(200)),
        (upload("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), Refused(400)),
        (upload("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), Refused(400)),
        (upload("Content-Length: 0\r\nContent-Length: 5\r\n", "hello"), Refused(400)),
        (upload("Content-Length: 5\r\ncontent-LENGTH: 50\r\n", "hello"), Refused(400)),
        (upload("Content-Length : 5\r\n", "hello"), Refused(400)),
        (upload(" Content-Length: 5\r\n", "hello"), Refused(400)),
        (upload("X: y\r\n Content-Length: 5\r\n", "hello"), Refused(400)),
        (upload("Content-Length:\r\n 5\r\n", "hello"), Refused(400)),
        (upload("Content-Length: 5\r\n", "hello"), Served(200)),
        (upload("Content-Length: 0000000000000000000005\r\n", "hello"), Served(200)),
        (upload("Content_Length: 5\r\n", ""), Served(200)),
        // A body that is a request stays a body.
        (upload(&format!("Content-Length: {}\r\n", MARKER.len()), MARKER), Served(200)),
        (raw(format!("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{MARKER}", MARKER.len())), Served(200)),
        (
            raw(format!("GET /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{MARKER}", MARKER.len())),
            Served(404),
        ),
        (
            raw(format!(
                "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{MARKER}",
                MARKER.len()
            )),
            Last(200),
        ),
    ]
}

fn codings() -> Vec<(Vec<u8>, Fate)> {
    let coding = |value: &str| upload(&format!("Transfer-Encoding: {value}\r\n"), "0\r\n\r\n");
    vec![
        (coding(""), Refused(400)),
        (coding("gzip"), Refused(400)),
        (coding("identity"), Refused(400)),
        (coding("chunked, gzip"), Refused(400)),
        (coding("chunked, identity"), Refused(400)),
        (coding("chunked, chunked"), Refused(400)),
        (coding("gzip, chunked, chunked"), Refused(400)),
        (coding("gzip, chunked"), Refused(501)),
        (coding("identity, chunked"), Refused(501)),
        (coding("chunked;q=1"), Refused(400)),
        (coding("chunked,"), Refused(400)),
        (coding(",chunked"), Refused(400)),
        (coding("\"chunked\""), Refused(400)),
        (coding("chunked\x0b"), Refused(400)),
        (coding("xchunked"), Refused(400)),
        (coding("chunkedx"), Refused(400)),
        (coding("chunk ed"), Refused(400)),
        (coding("chunked\r\n , identity"), Refused(400)),
        (coding("\r\n chunked"), Refused(400)),
        (coding("ChUnKeD"), Served(200)),
        (coding("chunked \t"), Served(200)),
        (upload("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("\u{b}Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n"), Refused(400)),
        (upload("Content-Length: 5\r\nTransfer-Encoding: identity\r\n", "hello"), Refused(400)),
        (raw("POST /upload HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), Refused(400)),
        (
            upload("Transfer-Encoding: chunked\r\n", &format!("{:x}\r\n{MARKER}\r\n0\r\n\r\n", MARKER.len())),
            Served(200),
        ),
    ]
}

/// The head is in order and the body is not, so the request counts and is answered by 400.
fn chunks() -> Vec<(Vec<u8>, Fate)> {
    let bad = [
        "\r\n",
        "x\r\n",
        "-1\r\n\r\n",
        "+1\r\na\r\n0\r\n\r\n",
        "0x1\r\na\r\n0\r\n\r\n",
        "1.0\r\na\r\n0\r\n\r\n",
        " 1\r\na\r\n0\r\n\r\n",
        "\t1\r\na\r\n0\r\n\r\n",
        "1 \r\na\r\n0\r\n\r\n",
        "1 x\r\na\r\n0\r\n\r\n",
        "1 1\r\na\r\n0\r\n\r\n",
        "1\na\r\n0\r\n\r\n",
        "1\ra\r\n0\r\n\r\n",
        "1\r\na\n0\r\n\r\n",
        "1\r\na0\r\n\r\n",
        "1\r\nab\r\n0\r\n\r\n",
        "1\r\na\r0\r\n\r\n",
        "1\r\na\r\n\r\n0\r\n\r\n",
        "2\r\na\r\n0\r\n\r\n",
        "1;\0\r\na\r\n0\r\n\r\n",
        "1;a\nb\r\na\r\n0\r\n\r\n",
        "1;a\rb\r\na\r\n0\r\n\r\n",
        "00000000000000001\r\na\r\n0\r\n\r\n",
        "10000000000000000\r\n",
        "fffffffffffffffff\r\n",
        "1,1\r\na\r\n0\r\n\r\n",
        "{}\r\na\r\n0\r\n\r\n",
        "\0\r\n",
        "0\n\n",
        "0\r\n\n",
        "0\n\r\n",
    ];
    let mut table: Vec<_> = bad.map(|body| (chunked(body), Refused(400))).into();
    table.extend([
        (chunked("ffffffffffffffff\r\n"), Refused(413)),
        (chunked(&format!("1;{}\r\na\r\n0\r\n\r\n", "x".repeat(5000))), Refused(400)),
        (chunked("0\r\n\r\n"), Served(200)),
        (chunked("000\r\n\r\n"), Served(200)),
        (chunked("A\r\n0123456789\r\n0\r\n\r\n"), Served(200)),
        (chunked("1;a=b;c=\"d\"\r\na\r\n0;e\r\n\r\n"), Served(200)),
        (chunked("1 ; a\r\na\r\n0\r\n\r\n"), Served(200)),
    ]);
    table
}

fn trailers() -> Vec<(Vec<u8>, Fate)> {
    let trailer = |lines: &str| chunked(&format!("1\r\na\r\n0\r\n{lines}\r\n"));
    vec![
        (trailer("X y\r\n"), Refused(400)),
        (trailer("X : y\r\n"), Refused(400)),
        (trailer(" X: y\r\n"), Refused(400)),
        (trailer("X: y\r\n z\r\n"), Refused(400)),
        (trailer("X: \0\r\n"), Refused(400)),
        (trailer("X: y\n"), Refused(400)),
        (trailer(": y\r\n"), Refused(400)),
        (trailer("X: a\rb\r\n"), Refused(400)),
        (trailer(&"X: y\r\n".repeat(5000)), Refused(400)),
        (trailer("X: y\r\n"), Served(200)),
        // Framing in a trailer comes too late to matter.
        (trailer("Content-Length: 500\r\nTransfer-Encoding: gzip\r\n"), Served(200)),
        (trailer("Host: b\r\nConnection: close\r\n"), Served(200)),
    ]
}

fn sizes() -> Vec<(Vec<u8>, Fate)> {
    let long = "x".repeat(HEAD);
    vec![
        (line(&format!("GET /{long} HTTP/1.1")), Refused(431)),
        (line(&format!("{long} / HTTP/1.1")), Refused(431)),
        (with(&format!("X: {long}\r\n")), Refused(431)),
        (with(&format!("{long}: y\r\n")), Refused(431)),
        (with(&format!("Cookie: {long}{long}{long}\r\n")), Refused(431)),
        (with(&"A: b\r\n".repeat(200)), Refused(431)),
        (with(&"A: b\r\n".repeat(126)), Served(200)),
        (raw("\r\n".repeat(HEAD)), Refused(431)),
        (line(&format!("GET /{} HTTP/1.1", "x".repeat(HEAD - 100))), Served(404)),
    ]
}

fn bodies() -> Vec<(Vec<u8>, Fate)> {
    let over = BODY + 1;
    let twice = format!("{BODY:x}\r\n{}\r\n1\r\na\r\n0\r\n\r\n", "x".repeat(BODY as usize));
    vec![
        (upload(&format!("Content-Length: {over}\r\n"), ""), Refused(413)),
        (upload(&format!("Content-Length: {over}\r\nExpect: 100-continue\r\n"), ""), Refused(413)),
        (chunked(&format!("{over:x}\r\n{}", "x".repeat(over as usize))), Refused(413)),
        (chunked(&twice), Refused(413)),
        (upload(&format!("Content-Length: {BODY}\r\n"), &"x".repeat(BODY as usize)), Served(200)),
    ]
}

/// Incomplete: the client ends its side within them.
pub fn truncated() -> Vec<(Vec<u8>, Fate)> {
    vec![
        (raw(""), Silent),
        (raw("G"), Silent),
        (raw("GET / HTTP/1.1\r\nHost: a\r\n"), Silent),
        (raw("GET / HTTP/1.1\r\nHost: a\r\n\r"), Silent),
        (upload("Content-Length: 5\r\n", "hell"), Silent),
        (chunked("5\r\nhell"), Silent),
        (chunked("5\r\nhello\r\n"), Silent),
        (chunked("0\r\n\r"), Silent),
        (chunked("0\r\nX: y\r\n"), Silent),
    ]
}
