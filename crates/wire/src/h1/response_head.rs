//! The head of a response: its end, its fields, what it says. Pure, as all of decoding.
//!
//! Heads are read by httparse. What that refuses, and heads of more fields than lie on the stack, are read a second
//! time as Go reads them, so that servers that k6 can test can be tested here: spaces in names (`Header : x` is a field
//! of the name `Header `), fields over several lines, any number of fields. Only such heads pay for the second look.
//! Refuses heads over 10 MiB, Go's limit, lines that are no field, and versions other than 1.0 and 1.1.

use std::mem::MaybeUninit;

use bytes::Bytes;

use super::response_facts::Facts;
use crate::syntax::field::is_token;

/// Largest head, in bytes.
pub(crate) const MAX_HEAD: usize = 10 << 20;
/// Fields of a head that is read at the first look.
const USUAL_FIELDS: usize = 128;

/// What a head says; `None` while it is incomplete. The error is for people.
pub(crate) fn parse_head(input: &[u8]) -> Result<Option<Facts>, String> {
    let mut fields = [const { MaybeUninit::uninit() }; USUAL_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let facts =
        match httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut parsed, input, &mut fields) {
            Ok(httparse::Status::Complete(head_len)) => {
                let fields = parsed.headers.iter().map(|field| (field.name.as_bytes(), field.value));
                Some(Facts::of(head_len, parsed.code.unwrap_or(0), parsed.version == Some(0), fields)?)
            }
            Ok(httparse::Status::Partial) => None,
            Err(_) => look_again(input)?,
        };
    match facts {
        Some(facts) => check_head_size(facts.head_len).map(|()| Some(facts)),
        None => check_head_size(input.len()).map(|()| None),
    }
}

fn check_head_size(len: usize) -> Result<(), String> {
    if len > MAX_HEAD {
        // k6's words, which are Go's.
        return Err(format!("net/http: server response headers exceeded {MAX_HEAD} bytes; aborted"));
    }
    Ok(())
}

/// Whether an empty line that ends a head is behind `from`, or reaches across it.
pub(super) fn has_end(input: &[u8], from: usize) -> bool {
    let behind = &input[from.saturating_sub(3)..];
    behind.windows(2).any(|pair| pair == b"\n\n") || behind.windows(3).any(|three| three == b"\n\r\n")
}

/// Reads a head as Go does. Only whole lines are judged, so that it does not matter where the network cut them.
fn look_again(input: &[u8]) -> Result<Option<Facts>, String> {
    let mut lines = Lines { input, at: 0 };
    let status_line = loop {
        match lines.next() {
            None => return Ok(None),
            Some([]) => {}
            Some(line) => break line,
        }
    };
    let (status, http_10) = read_status_line(status_line)?;
    let mut fields: Vec<(&[u8], &[u8])> = Vec::new();
    let mut folded = false;
    loop {
        match lines.next() {
            None => return Ok(None),
            Some([]) => break,
            Some(line @ [b' ' | b'\t', ..]) => {
                if fields.is_empty() {
                    return Err(format!("malformed MIME header initial line: {}", shown(line)));
                }
                check_value(line, line)?;
                folded = true;
            }
            Some(line) => fields.push(read_field(line)?),
        }
    }
    if !folded {
        return Facts::of(lines.at, status, http_10, fields.into_iter()).map(Some);
    }
    // Read once more with each field on a line of its own: what a folded field says may matter.
    let plain = unfold(&input[..lines.at]);
    let facts = parse_head(&plain)?.ok_or("malformed HTTP response head")?;
    Ok(Some(Facts { head_len: lines.at, folded: true, ..facts }))
}

/// The lines of a head without their ends, as far as they are whole.
struct Lines<'h> {
    input: &'h [u8],
    at: usize,
}

impl<'h> Iterator for Lines<'h> {
    type Item = &'h [u8];

    fn next(&mut self) -> Option<&'h [u8]> {
        let rest = &self.input[self.at..];
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        self.at += end + 1;
        Some(rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]))
    }
}

/// Status, and whether the version is 1.0.
fn read_status_line(line: &[u8]) -> Result<(u16, bool), String> {
    let space = line.iter().position(|byte| *byte == b' ');
    let space = space.ok_or_else(|| format!("malformed HTTP response {}", shown(line)))?;
    let (version, rest) = (&line[..space], line[space..].trim_ascii_start());
    let code = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_code = code.len() == 3 && code.iter().all(u8::is_ascii_digit);
    let status = std::str::from_utf8(code).ok().filter(|_| is_code).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| format!("malformed HTTP status code {}", shown(code)))?;
    match version {
        b"HTTP/1.1" => Ok((status, false)),
        b"HTTP/1.0" => Ok((status, true)),
        other => Err(format!("malformed HTTP version {}", shown(other))),
    }
}

/// Name and value. A name with spaces is no token, and names no field that we act upon.
fn read_field(line: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let colon = line.iter().position(|byte| *byte == b':');
    let colon = colon.ok_or_else(|| format!("malformed MIME header: missing colon: {}", shown(line)))?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_name = !name.is_empty() && name.split(|byte| *byte == b' ').all(|part| part.is_empty() || is_token(part));
    if !is_name {
        return Err(malformed(line));
    }
    check_value(value, line)?;
    Ok((name, value.trim_ascii()))
}

fn check_value(value: &[u8], line: &[u8]) -> Result<(), String> {
    let is_fine = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
    if value.iter().all(is_fine) { Ok(()) } else { Err(malformed(line)) }
}

fn malformed(line: &[u8]) -> String {
    format!("malformed MIME header line: {}", shown(line))
}

/// At most 80 bytes, quoted.
fn shown(line: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(&line[..line.len().min(80)]))
}

/// RFC 9112 5.2: a fold and the spaces around it are read as one space, as Go has it.
pub(super) fn unfold(head: &[u8]) -> Bytes {
    let mut plain: Vec<u8> = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let is_fold = matches!(line, [b' ' | b'\t', ..]) && !plain.is_empty();
        if is_fold {
            let kept = plain.trim_ascii_end().len();
            plain.truncate(kept);
            plain.push(b' ');
        }
        plain.extend_from_slice(if is_fold { line.trim_ascii_start() } else { line });
        // A fold of spaces alone has lost its line's end too.
        if is_fold && !plain.ends_with(b"\n") {
            plain.extend_from_slice(b"\r\n");
        }
    }
    Bytes::from(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_become_one_space() {
        for (head, plain) in [
            ("HTTP/1.1 200 OK\r\nA: b \r\n\t c\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b c\r\n\r\n"),
            ("HTTP/1.1 200 OK\nA:\n b\n  \n\n", "HTTP/1.1 200 OK\nA: b \r\n\n"),
        ] {
            assert_eq!(unfold(head.as_bytes()), plain, "{head:?}");
        }
    }

    #[test]
    fn the_end_of_a_head_is_seen_across_pieces() {
        for (input, from, expected) in [
            ("a\r\n\r\n", 4, true),
            ("a\r\n\r\n", 3, true),
            ("a\n\n", 2, true),
            ("a\r\n", 2, false),
            ("a\n\nbcdef", 8, false),
        ] {
            assert_eq!(has_end(input.as_bytes(), from), expected, "{input:?} from {from}");
        }
    }
    #[test]
    fn status_lines_that_are_none_are_named() {
        let long = "x".repeat(100);
        for (line, text) in [
            ("HTTP/1.1 20 OK", String::from("malformed HTTP status code \"20\"")),
            ("HTTP/1.1 2000 OK", String::from("malformed HTTP status code \"2000\"")),
            ("HTTP/1.1 +20 OK", String::from("malformed HTTP status code \"+20\"")),
            ("HTTP/1.1 ", String::from("malformed HTTP status code \"\"")),
            ("HTTP/1.1", String::from("malformed HTTP response \"HTTP/1.1\"")),
            ("HTTP/2.0 200 OK", String::from("malformed HTTP version \"HTTP/2.0\"")),
            (&long, format!("malformed HTTP response \"{}\"", &long[..80])),
        ] {
            assert_eq!(parse_head(format!("{line}\r\n\r\n").as_bytes()).unwrap_err(), text, "{line}");
        }
    }

    #[test]
    fn a_head_of_folds_is_as_long_as_it_was_sent_and_complete_at_its_last_byte() {
        let head = "\r\nHTTP/1.0  404 Not Found\r\nX : a\r\n \tb\r\nContent-Length:\r\n 3\r\n\r\n";
        for cut in 0..head.len() {
            assert!(parse_head(&head.as_bytes()[..cut]).unwrap().is_none(), "cut at {cut}");
        }
        let facts = parse_head(format!("{head}abc").as_bytes()).unwrap().unwrap();
        assert_eq!((facts.head_len, facts.status, facts.http_10), (head.len(), 404, true));
        assert_eq!((facts.length, facts.folded), (Some(3), true));
        let plain = parse_head(b"HTTP/1.1 200 OK\r\nX : a\r\n\r\n").unwrap().unwrap();
        assert!(!plain.folded && !plain.http_10);
    }

    #[test]
    fn ten_mebibytes_of_head_are_read_and_no_more() {
        let head = |size: usize| format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(size - 24));
        assert_eq!(parse_head(head(10 << 20).as_bytes()).unwrap().unwrap().head_len, 10 << 20);
        let refused = "net/http: server response headers exceeded 10485760 bytes; aborted";
        assert_eq!(parse_head(head((10 << 20) + 1).as_bytes()).unwrap_err(), refused);
        assert!(parse_head(&head(11 << 20).as_bytes()[..10 << 20]).unwrap().is_none());
        assert_eq!(parse_head(&head(11 << 20).as_bytes()[..(10 << 20) + 1]).unwrap_err(), refused);
    }
}
