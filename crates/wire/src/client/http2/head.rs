//! The head of a request in HTTP/2, from the one that was made for HTTP/1.1.
//!
//! Host becomes `:authority`, fields that belong to a connection are left out, and those that would ask for more are
//! refused in Go's words.

use crate::failure::{Failure, FailureKind, Step};
use crate::h2::{HeadBuilder, Http2Head, quoted};

/// Reads a head of HTTP/1.1 as `RequestHead` encodes it. `is_constant`: it is sent again and again.
pub(crate) fn read_head(head: &[u8], tls: bool, is_constant: bool) -> Result<Http2Head, Failure> {
    let mut lines = head.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next().unwrap_or_default().split(|b| *b == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let fields = || {
        let lines = lines.clone().take_while(|line| !line.is_empty());
        lines.map(|line| {
            let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
            (&line[..colon], line.get(colon + 2..).unwrap_or_default())
        })
    };
    let is_host = |name: &[u8]| name.eq_ignore_ascii_case(b"host");
    let authority = fields().filter(|(name, _)| is_host(name)).last().map_or(&b""[..], |(_, host)| host);
    let mut builder = HeadBuilder::new(is_constant);
    builder.request(method, if tls { "https" } else { "http" }, authority, &quoted(target))?;
    for (name, value) in fields().filter(|(name, _)| !is_host(name)) {
        if !is_of_connection(name, value)? {
            builder.field(name, value)?;
        }
    }
    Ok(builder.build())
}

/// Whether the field says something of the connection alone, which HTTP/2 says in frames (RFC 9113 8.2.2). Refuses what
/// asks for another protocol or another framing.
fn is_of_connection(name: &[u8], value: &[u8]) -> Result<bool, Failure> {
    let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
    let says = |allowed: &[&str]| value.is_empty() || allowed.iter().any(|a| value.eq_ignore_ascii_case(a.as_bytes()));
    let refuse = |name: &str| {
        let message = format!("http2: invalid {name} request header: [\"{}\"]", value.escape_ascii());
        Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message })
    };
    match name.len() {
        2 if is("te") && !says(&["trailers"]) => refuse("TE"),
        7 if is("upgrade") && !says(&["chunked"]) => refuse("Upgrade"),
        10 if is("connection") && !says(&["close", "keep-alive"]) => refuse("Connection"),
        17 if is("transfer-encoding") && !says(&["chunked"]) => refuse("Transfer-Encoding"),
        7 => Ok(is("upgrade")),
        10 => Ok(is("connection") || is("keep-alive")),
        16 => Ok(is("proxy-connection")),
        17 => Ok(is("transfer-encoding")),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<String, String> {
        let head = format!("GET /a?b=<c> HTTP/1.1\r\nHost: h.test:8\r\n{fields}\r\n");
        read_head(head.as_bytes(), true, true).map(|head| head.to_string()).map_err(|failure| failure.message)
    }

    #[test]
    fn the_host_is_the_authority_and_a_query_is_made_fit() {
        assert_eq!(
            read("User-Agent: t\r\nX-A: b\r\n").unwrap(),
            ":method=GET :scheme=https :authority=h.test:8 :path=/a?b=%3Cc%3E user-agent=t x-a=b"
        );
    }

    #[test]
    fn fields_of_the_connection_stay_out_and_cookies_are_split() {
        let head = read(
            "Connection: Close\r\nKeep-Alive: 1\r\nProxy-Connection: x\r\nTransfer-Encoding: chunked\r\n\
             Cookie: a=1; b=2;c=3\r\nTE: trailers\r\n",
        )
        .unwrap();
        assert!(head.ends_with("%3Cc%3E cookie=a=1 cookie=b=2 cookie=c=3 te=trailers"), "{head}");
    }

    #[test]
    fn what_http2_has_no_form_for_is_refused_in_gos_words() {
        for (field, message) in [
            ("TE: gzip", "http2: invalid TE request header: [\"gzip\"]"),
            ("Upgrade: foo", "http2: invalid Upgrade request header: [\"foo\"]"),
            ("Connection: upgrade", "http2: invalid Connection request header: [\"upgrade\"]"),
            ("Transfer-Encoding: gzip", "http2: invalid Transfer-Encoding request header: [\"gzip\"]"),
        ] {
            assert_eq!(read(&format!("{field}\r\n")).unwrap_err(), message);
        }
    }
}
