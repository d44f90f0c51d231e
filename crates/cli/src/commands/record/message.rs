//! Requests as a proxy's client sends them, read from a blocking stream: a head, and the whole body.
//!
//! HTTP/1.1 alone. Bounded: a head up to 64 KiB, a body up to 64 MiB. Bodies by length or in chunks (RFC 9112 section
//! 6).

use std::io::{self, BufRead, Read};

/// A request.
pub struct Message {
    pub method: String,
    /// As it stands on the first line.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

const HEAD: u64 = 64 << 10;
const BODY: u64 = 64 << 20;

impl Message {
    /// The next request; nothing when the client has closed.
    pub fn read(
        from: &mut impl BufRead,
        answer_continue: &mut dyn FnMut() -> io::Result<()>,
    ) -> io::Result<Option<Message>> {
        let Some(lines) = head(from)? else { return Ok(None) };
        let mut words = lines.first().map(String::as_str).unwrap_or_default().split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if method.is_empty() || target.is_empty() {
            return Err(bad("this is no request line"));
        }
        let fields = lines[1..].iter().filter_map(|line| line.split_once(':'));
        let headers = fields.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        let mut message = Message { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() };
        if message.header("expect").is_some() {
            answer_continue()?;
        }
        message.body = message.read_body(from)?;
        Ok(Some(message))
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn read_body(&self, from: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            loop {
                let line = line(from)?;
                let size = line.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
                if size == 0 {
                    while !line_is_empty(from)? {}
                    return Ok(body);
                }
                take(from, size, &mut body)?;
                line_is_empty(from)?;
            }
        }
        if let Some(length) = self.header("content-length") {
            take(from, length.parse().map_err(|_| bad("Content-Length is no number"))?, &mut body)?;
        }
        Ok(body)
    }
}

fn head(from: &mut impl BufRead) -> io::Result<Option<Vec<String>>> {
    let mut lines = Vec::new();
    let mut size = 0;
    loop {
        let line = match line(from) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && lines.is_empty() => return Ok(None),
            line => line?,
        };
        size += line.len() as u64;
        if size > HEAD {
            return Err(bad("the head of the request is too long"));
        }
        match (line.is_empty(), lines.is_empty()) {
            // Between two requests an empty line may stand.
            (true, true) => {}
            (true, false) => return Ok(Some(lines)),
            (false, _) => lines.push(line),
        }
    }
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(HEAD).read_until(b'\n', &mut bytes)?;
    if bytes.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
}

fn line_is_empty(from: &mut impl BufRead) -> io::Result<bool> {
    line(from).map(|line| line.is_empty())
}

fn take(from: &mut impl BufRead, size: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if size > BODY || body.len() as u64 + size > BODY {
        return Err(bad("the body has more than 64 MiB"));
    }
    match from.take(size).read_to_end(body)? as u64 {
        read if read == size => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_one_after_the_other() {
        let text = "POST http://h/a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi\r\nPUT /b HTTP/1.1\r\nTransfer-Encoding: \
                    chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: x\r\n\r\nGET /c HTTP/1.1\r\n\r\n";
        let mut from = text.as_bytes();
        let mut next = || Message::read(&mut from, &mut || Ok(())).expect("good");
        let shown = |message: Message| {
            format!("{} {} {}", message.method, message.target, String::from_utf8_lossy(&message.body))
        };
        assert_eq!(next().map(shown).as_deref(), Some("POST http://h/a hi"));
        assert_eq!(next().map(shown).as_deref(), Some("PUT /b abc"));
        assert_eq!(next().map(shown).as_deref(), Some("GET /c "));
        assert!(next().is_none());
        for wrong in
            ["x\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\na"]
        {
            assert!(Message::read(&mut wrong.as_bytes(), &mut || Ok(())).is_err(), "{wrong}");
        }
    }
}
