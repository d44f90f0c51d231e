//! The head of a response, read once for all that look the same.
//!
//! It is kept as text, as one of HTTP/1.1 is, and so are trailers. Invariant: a block that came before stands for the
//! same fields as long as the connection's table has not changed.

use bytes::Bytes;

use super::hpack_decode::FieldDecoder;
use crate::h1::reason::reason;
use crate::h1::response_head::MAX_HEAD;
use crate::response::Marks;
use crate::syntax::field::{is_token, is_value, push_decimal};

/// A longer block is not kept.
const LONGEST: usize = 1 << 10;

/// What a block of fields says.
#[derive(Clone, Debug)]
pub(crate) struct AnswerHead {
    /// 0 in trailers.
    pub(crate) status: u16,
    /// Status line, fields, and the empty line. Trailers have no status line.
    pub(crate) text: Bytes,
    pub(crate) marks: Marks,
    pub(super) declared: Option<u64>,
}

/// Why a block is no head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadBlock {
    /// It cannot be decoded.
    Undecodable,
    /// It says what no response may say (RFC 9113 8.1.1), or more than anybody says.
    Malformed,
}

/// Reads the blocks of a connection.
pub(super) struct AnswerReader {
    decoder: FieldDecoder,
    /// The last head, and the last trailers.
    kept: [Option<KeptAnswer>; 2],
}

struct KeptAnswer {
    block: Box<[u8]>,
    changes: u64,
    head: AnswerHead,
}

impl AnswerReader {
    pub(super) fn new() -> AnswerReader {
        AnswerReader { decoder: FieldDecoder::new(), kept: [None, None] }
    }

    /// Reads a whole block.
    pub(super) fn read(&mut self, block: &[u8], is_trailers: bool) -> Result<AnswerHead, BadBlock> {
        let kept = &self.kept[usize::from(is_trailers)];
        if let Some(kept) = kept
            && kept.changes == self.decoder.changes()
            && *kept.block == *block
        {
            return Ok(kept.head.clone());
        }
        let before = self.decoder.changes();
        let mut fields = FieldCollector::new(is_trailers);
        self.decoder.decode(block, |name, value| fields.take(name, value)).map_err(|_| BadBlock::Undecodable)?;
        let head = fields.finish().ok_or(BadBlock::Malformed)?;
        if before == self.decoder.changes() && block.len() <= LONGEST {
            let kept = KeptAnswer { block: block.into(), changes: before, head: head.clone() };
            self.kept[usize::from(is_trailers)] = Some(kept);
        }
        Ok(head)
    }
}

/// FieldCollector as they are read.
struct FieldCollector {
    is_trailers: bool,
    status: Option<u16>,
    has_fields: bool,
    is_malformed: bool,
    text: Vec<u8>,
    marks: Marks,
    declared: Option<u64>,
}

impl FieldCollector {
    fn new(is_trailers: bool) -> FieldCollector {
        FieldCollector {
            is_trailers,
            status: None,
            has_fields: false,
            is_malformed: false,
            text: Vec::with_capacity(256),
            marks: Marks::default(),
            declared: None,
        }
    }

    fn take(&mut self, name: &[u8], value: &[u8]) {
        if name.first() == Some(&b':') {
            self.is_malformed |= name != b":status" || self.has_fields || self.status.is_some() || self.is_trailers;
            self.status = status(value);
            self.is_malformed |= self.status.is_none();
            return self.begin();
        }
        self.has_fields = true;
        let is_allowed = is_token(name) && !name.iter().any(u8::is_ascii_uppercase) && is_value(value);
        self.is_malformed |= !is_allowed || is_of_connection(name) || self.text.len() > MAX_HEAD;
        if self.is_malformed {
            return;
        }
        match name {
            b"set-cookie" => self.marks.sets_cookie = true,
            b"content-encoding" => self.marks.is_coded = true,
            b"content-length" => {
                let length = length(value);
                self.is_malformed |= length.is_none() || self.declared.is_some_and(|other| Some(other) != length);
                self.declared = length;
            }
            _ => {}
        }
        for part in [name, b": ", value, b"\r\n"] {
            self.text.extend_from_slice(part);
        }
    }

    fn begin(&mut self) {
        let Some(status) = self.status else { return };
        self.text.extend_from_slice(b"HTTP/2.0 ");
        push_decimal(&mut self.text, u64::from(status));
        self.text.push(b' ');
        self.text.extend_from_slice(reason(status).as_bytes());
        self.text.extend_from_slice(b"\r\n");
    }

    fn finish(mut self) -> Option<AnswerHead> {
        if self.is_malformed || (self.status.is_none() && !self.is_trailers) {
            return None;
        }
        self.text.extend_from_slice(b"\r\n");
        let (text, status) = (Bytes::from(self.text), self.status.unwrap_or(0));
        Some(AnswerHead { status, text, marks: self.marks, declared: self.declared })
    }
}

/// Three digits. 101 does not exist in HTTP/2 (RFC 9113 8.6).
fn status(value: &[u8]) -> Option<u16> {
    let [a, b, c] = value else { return None };
    let digits = [*a, *b, *c];
    let status = digits.iter().fold(0, |status, digit| status * 10 + u16::from(digit.wrapping_sub(b'0')));
    (digits.iter().all(u8::is_ascii_digit) && status >= 100 && status != 101).then_some(status)
}

fn length(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}

/// What says something of a connection alone, HTTP/2 says in frames (RFC 9113 8.2.2).
fn is_of_connection(name: &[u8]) -> bool {
    let names: [&[u8]; 5] = [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];
    names.contains(&name)
}
