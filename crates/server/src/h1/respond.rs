//! Writes response heads and chunks into an output buffer.
//!
//! Everything is appended to one `Vec`, so that head and body of a small response leave in one write, and so do the responses
//! to requests that arrived together.

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, SystemTime};

use httpdate::HttpDate;
use wire::field::push_decimal;

/// How the client finds the end of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The status has no body and no length (1xx, 204, 304).
    NoBody,
    /// `Content-Length`.
    Known(u64),
    /// Chunked coding.
    Chunked,
    /// The connection closes behind the body (an HTTP/1.0 client).
    UntilClose,
}

/// What the connection line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing: an HTTP/1.1 connection stays open.
    Default,
    /// `keep-alive`, which an HTTP/1.0 client waits for.
    KeepAlive,
    /// `close`.
    Close,
}

/// Appends the status line and the headers every response has; `headers` go behind them.
pub fn head<'a>(
    out: &mut Vec<u8>,
    status: u16,
    length: Length,
    persistence: Persistence,
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
) {
    status_line(out, status);
    out.extend_from_slice(b"Server: onrush\r\nDate: ");
    out.extend_from_slice(&date());
    out.extend_from_slice(b"\r\n");
    match length {
        Length::NoBody | Length::UntilClose => {}
        Length::Known(length) => {
            out.extend_from_slice(b"Content-Length: ");
            push_decimal(out, length);
            out.extend_from_slice(b"\r\n");
        }
        Length::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    match persistence {
        Persistence::Default => {}
        Persistence::KeepAlive => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        Persistence::Close => out.extend_from_slice(b"Connection: close\r\n"),
    }
    headers.for_each(|(name, value)| header(out, name, value));
    out.extend_from_slice(b"\r\n");
}

/// Appends an interim response (1xx) with its headers.
pub fn interim<'a>(out: &mut Vec<u8>, status: u16, headers: impl Iterator<Item = (&'a str, &'a [u8])>) {
    status_line(out, status);
    headers.for_each(|(name, value)| header(out, name, value));
    out.extend_from_slice(b"\r\n");
}

/// Appends one chunk; an empty one would end the body, so it appends nothing.
pub fn chunk(out: &mut Vec<u8>, data: &[u8]) {
    if !data.is_empty() {
        chunk_size(out, data.len());
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends the line before the data of a chunk, for data that is sent from where it lies.
pub fn chunk_size(out: &mut Vec<u8>, size: usize) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut line = *b"................\r\n";
    let (mut at, mut rest) = (16, size);
    loop {
        at -= 1;
        line[at] = HEX[rest & 0xf];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&line[at..]);
}

/// Appends the end of a chunked body with its trailers.
pub fn last_chunk<'a>(out: &mut Vec<u8>, trailers: impl Iterator<Item = (&'a str, &'a [u8])>) {
    out.extend_from_slice(b"0\r\n");
    trailers.for_each(|(name, value)| header(out, name, value));
    out.extend_from_slice(b"\r\n");
}

fn status_line(out: &mut Vec<u8>, status: u16) {
    if status == 200 {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        return;
    }
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Line breaks would let a query parameter forge headers (`/response-headers`): they become spaces.
fn header(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    let breaks = |b: &u8| matches!(b, b'\r' | b'\n' | 0);
    if value.iter().fold(false, |found, b| found | breaks(b)) {
        out.extend(value.iter().map(|b| if breaks(b) { b' ' } else { *b }));
    } else {
        out.extend_from_slice(value);
    }
    out.extend_from_slice(b"\r\n");
}

/// The `Date` value, formatted once a second a thread.
pub(crate) fn date() -> [u8; 29] {
    thread_local!(static LAST: Cell<(u64, [u8; 29])> = const { Cell::new((u64::MAX, [0; 29])) });
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (second, text) = LAST.get();
    if second == now {
        return text;
    }
    let text = imf_date(now);
    LAST.set((now, text));
    text
}

/// RFC 9110 section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn imf_date(epoch_s: u64) -> [u8; 29] {
    let moment = HttpDate::from(SystemTime::UNIX_EPOCH + Duration::from_secs(epoch_s));
    let mut text = [b' '; 29];
    write!(&mut text[..], "{moment}").expect("29 characters until the year 9999");
    text
}

/// The reason phrase of RFC 9110; unknown statuses get a phrase that says so.
pub fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        511 => "Network Authentication Required",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (epoch, want) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] {
            assert_eq!(std::str::from_utf8(&imf_date(epoch)), Ok(want));
        }
    }

    #[test]
    fn a_value_cannot_forge_a_header() {
        let mut out = Vec::new();
        header(&mut out, "A", b"b\r\nC: d");
        assert_eq!(out, b"A: b  C: d\r\n");
    }

    #[test]
    fn chunks() {
        let mut out = Vec::new();
        chunk(&mut out, b"");
        chunk(&mut out, &[b'x'; 17]);
        last_chunk(&mut out, [("T", &b"v"[..])].into_iter());
        assert_eq!(out, b"11\r\nxxxxxxxxxxxxxxxxx\r\n0\r\nT: v\r\n\r\n");
        for size in [1, 15, 16, 255, 256, 0x1000, 0xfedc_ba98, usize::MAX] {
            let mut line = Vec::new();
            chunk_size(&mut line, size);
            assert_eq!(line, format!("{size:x}\r\n").into_bytes());
        }
    }
}
