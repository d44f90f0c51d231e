//! Responses from bytes, in whatever pieces they arrive. Pure: no IO, no clock.
//!
//! The common response, complete in the first piece, is read where it lies: a head that came before is shared, not parsed
//! again, and a new one is copied together with the body. What is finished is written where the caller keeps it.
//! Skips 1xx heads, refuses 101, heads over 64 KiB, more than 128 fields, contradicting lengths, bad chunks. Both
//! Transfer-Encoding and Content-Length: the former wins and the connection is not kept (RFC 9112 6.3).
//! Invariant: bytes after the end of the response are never taken; they are reported, so that the connection is dropped.

use std::mem::MaybeUninit;

use bytes::Bytes;

use super::body::{BodyReader, Chunked};
use super::known_heads::KnownHeads;
use crate::failure::Failure;
use crate::request::{BodySink, BodyUse};
use crate::response::{Body, Marks, Response};

/// Largest head, in bytes.
pub(crate) const MAX_HEAD: usize = 64 << 10;
/// Most header fields.
pub(crate) const MAX_FIELDS: usize = 128;
/// A body vector is reserved up to this size ahead; beyond, it grows with what really arrives.
const MAX_RESERVE: u64 = 1 << 20;

/// Assembles one response.
pub(crate) struct ResponseReader {
    to_head_request: bool,
    body_use: BodyUse,
    state: State,
    /// Head bytes while incomplete.
    partial: Vec<u8>,
    content: Vec<u8>,
    dropped: u64,
}

enum State {
    Head,
    Body(Facts, Bytes, BodyReader),
    Done { status: u16, keep_alive: bool, has_length: bool, marks: Marks },
}

/// What a complete response says beside itself.
#[derive(Clone, Copy)]
pub(crate) struct Finished {
    /// The server leaves the connection open.
    pub(crate) keep_alive: bool,
    /// Its head told how long the body is.
    pub(crate) has_length: bool,
    pub(crate) marks: Marks,
}

/// Where a finished response goes.
pub(crate) type Place = Result<Response, Failure>;

/// What a head says about the message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) head_len: usize,
    status: u16,
    http_10: bool,
    length: Option<u64>,
    chunked: bool,
    keep_alive: bool,
    /// Some field goes over several lines (obs-fold).
    pub(super) folded: bool,
    marks: Marks,
}

/// What a piece of input did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// More is needed.
    More,
    /// The response is complete; so many bytes of the input lie behind its end.
    Complete {
        /// Bytes that do not belong to it.
        surplus: usize,
    },
}

impl ResponseReader {
    #[inline(always)]
    pub(crate) fn new(to_head_request: bool, body_use: BodyUse) -> ResponseReader {
        let (partial, content) = (Vec::new(), Vec::new());
        ResponseReader { to_head_request, body_use, state: State::Head, partial, content, dropped: 0 }
    }

    /// Who takes the body that is being read.
    pub(crate) fn sink(&self) -> Option<&dyn BodySink> {
        match (&self.body_use, &self.state) {
            (BodyUse::Stream(sink), State::Body(..)) => Some(&**sink),
            _ => None,
        }
    }

    /// How many bytes are to come that nobody wants to see: the rest of a discarded body of known length.
    pub(crate) fn unwanted(&self) -> Option<u64> {
        match (&self.body_use, &self.state) {
            (BodyUse::Discard, State::Body(_, _, BodyReader::Length(left))) => Some(*left),
            _ => None,
        }
    }

    /// Counts so many of the unwanted bytes as arrived and dropped.
    pub(crate) fn skip(&mut self, bytes: u64, place: &mut Place) -> Fed {
        let State::Body(facts, head, reader) = &mut self.state else {
            unreachable!("only a body is skipped");
        };
        self.dropped += bytes;
        if !reader.skip(bytes) {
            return Fed::More;
        }
        let (facts, head) = (*facts, std::mem::take(head));
        self.finish(facts, head, place);
        Fed::Complete { surplus: 0 }
    }

    /// Status of the head, once it is complete.
    pub(crate) fn status(&self) -> Option<u16> {
        match &self.state {
            State::Body(facts, ..) => Some(facts.status),
            State::Done { status, .. } => Some(*status),
            State::Head => None,
        }
    }

    /// Takes the next piece; errors are in words for people. A response that it completes is put into `place`.
    #[inline]
    pub(crate) fn feed(&mut self, input: &[u8], heads: &KnownHeads, place: &mut Place) -> Result<Fed, String> {
        if let (State::Head, true) = (&self.state, self.partial.is_empty())
            && let Some((head, facts)) = heads.find(input)
        {
            return self.feed_behind(head, facts, &input[facts.head_len..], place);
        }
        self.feed_any(input, heads, place)
    }

    /// The input follows a head.
    fn feed_behind(&mut self, head: Bytes, facts: Facts, input: &[u8], place: &mut Place) -> Result<Fed, String> {
        if let Some(length) = self.whole_length(&facts, input) {
            let body = Body::Kept(Bytes::copy_from_slice(&input[..length]));
            self.done(&facts, head, body, place);
            return Ok(Fed::Complete { surplus: input.len() - length });
        }
        self.begin_body(facts, head, place);
        self.feed_body(input, place)
    }

    fn feed_any(&mut self, mut input: &[u8], heads: &KnownHeads, place: &mut Place) -> Result<Fed, String> {
        while matches!(self.state, State::Head) {
            if self.partial.is_empty() {
                let Some(facts) = parse_head(input)? else {
                    check_head_size(input.len())?;
                    self.partial.extend_from_slice(input);
                    return Ok(Fed::More);
                };
                let (whole, rest) = (input, &input[facts.head_len..]);
                if is_interim(facts.status)? {
                    input = rest;
                    continue;
                }
                if let Some(head) = heads.learn(whole, &facts) {
                    return self.feed_behind(head, facts, rest, place);
                }
                if let Some(surplus) = self.complete_at_once(&facts, whole, place) {
                    return Ok(Fed::Complete { surplus });
                }
                input = rest;
                self.begin_body(facts, Bytes::copy_from_slice(&whole[..facts.head_len]), place);
            } else {
                input = match self.feed_partial_head(input, place)? {
                    Some(rest) => rest,
                    None => return Ok(Fed::More),
                };
            }
        }
        self.feed_body(input, place)
    }

    /// The peer closed its side. `true` when that was the end of the body.
    pub(crate) fn end_of_stream(&mut self, place: &mut Place) -> bool {
        match &mut self.state {
            State::Body(facts, head, reader) if reader.may_end() => {
                let (facts, head) = (*facts, std::mem::take(head));
                self.finish(facts, head, place);
                true
            }
            state => matches!(state, State::Done { .. }),
        }
    }

    /// What the response says beside itself, once it is complete.
    pub(crate) fn finished(&self) -> Option<Finished> {
        match self.state {
            State::Done { keep_alive, has_length, marks, .. } => Some(Finished { keep_alive, has_length, marks }),
            _ => None,
        }
    }

    /// Continues a head that came in pieces; gives what follows it in the input.
    fn feed_partial_head<'i>(&mut self, input: &'i [u8], place: &mut Place) -> Result<Option<&'i [u8]>, String> {
        let before = self.partial.len();
        let room = (MAX_HEAD + 1).saturating_sub(before).min(input.len());
        self.partial.extend_from_slice(&input[..room]);
        let Some(facts) = parse_head(&self.partial)? else {
            check_head_size(self.partial.len())?;
            return Ok(None);
        };
        let rest = &input[facts.head_len - before..];
        let mut head = std::mem::take(&mut self.partial);
        if !is_interim(facts.status)? {
            head.truncate(facts.head_len);
            self.begin_body(facts, Bytes::from(head), place);
        }
        Ok(Some(rest))
    }

    /// A body of known length that is kept and lies complete in the input: its length.
    fn whole_length(&self, facts: &Facts, input: &[u8]) -> Option<usize> {
        if self.has_no_body(facts) || facts.chunked || facts.folded || !matches!(self.body_use, BodyUse::Keep) {
            return None;
        }
        let length = usize::try_from(facts.length?).ok()?;
        (length <= input.len()).then_some(length)
    }

    /// One copy for head and body, where the body is complete; gives what lies behind it.
    fn complete_at_once(&mut self, facts: &Facts, input: &[u8], place: &mut Place) -> Option<usize> {
        let end = facts.head_len + self.whole_length(facts, &input[facts.head_len..])?;
        let mut head = Bytes::copy_from_slice(&input[..end]);
        let body = head.split_off(facts.head_len);
        self.done(facts, head, Body::Kept(body), place);
        Some(input.len() - end)
    }

    fn has_no_body(&self, facts: &Facts) -> bool {
        self.to_head_request || facts.status == 204 || facts.status == 304
    }

    fn begin_body(&mut self, facts: Facts, mut head: Bytes, place: &mut Place) {
        if facts.folded {
            head = unfold(&head);
        }
        if self.has_no_body(&facts) {
            self.done(&facts, head, Body::None, place);
            return;
        }
        if matches!(self.body_use, BodyUse::Stream(_)) && !(200..300).contains(&facts.status) {
            self.body_use = BodyUse::Keep;
        }
        let reader = match facts.length {
            _ if facts.chunked => BodyReader::Chunked(Chunked::default()),
            Some(length) => BodyReader::Length(length),
            None => BodyReader::ToEof,
        };
        if let (BodyReader::Length(length), BodyUse::Keep) = (&reader, &self.body_use) {
            self.content.reserve_exact((*length).min(MAX_RESERVE) as usize);
        }
        self.state = State::Body(facts, head, reader);
    }

    fn feed_body(&mut self, input: &[u8], place: &mut Place) -> Result<Fed, String> {
        let State::Body(facts, head, reader) = &mut self.state else {
            return Ok(Fed::Complete { surplus: input.len() });
        };
        let (content, dropped, body_use) = (&mut self.content, &mut self.dropped, &self.body_use);
        let taken = reader.feed(input, |bytes| match body_use {
            BodyUse::Keep => content.extend_from_slice(bytes),
            BodyUse::Discard => *dropped += bytes.len() as u64,
            BodyUse::Stream(sink) => {
                *dropped += bytes.len() as u64;
                sink.take(bytes);
            }
        })?;
        if !taken.done {
            return Ok(Fed::More);
        }
        let (facts, head) = (*facts, std::mem::take(head));
        self.finish(facts, head, place);
        Ok(Fed::Complete { surplus: input.len() - taken.consumed })
    }

    fn finish(&mut self, facts: Facts, head: Bytes, place: &mut Place) {
        let body = match self.body_use {
            BodyUse::Keep => Body::Kept(Bytes::from(std::mem::take(&mut self.content))),
            BodyUse::Discard | BodyUse::Stream(_) => Body::Discarded(self.dropped),
        };
        self.done(&facts, head, body, place);
    }

    fn done(&mut self, facts: &Facts, head: Bytes, body: Body, place: &mut Place) {
        let proto = if facts.http_10 { "HTTP/1.0" } else { "HTTP/1.1" };
        let delimited = facts.chunked || facts.length.is_some() || matches!(body, Body::None);
        *place = Ok(Response { status: facts.status, proto, head, body });
        let keep_alive = facts.keep_alive && delimited;
        let has_length = facts.length.is_some() && !facts.chunked;
        self.state = State::Done { status: facts.status, keep_alive, has_length, marks: facts.marks };
    }
}

fn check_head_size(len: usize) -> Result<(), String> {
    if len > MAX_HEAD {
        return Err(format!("response head larger than the limit of {MAX_HEAD} bytes"));
    }
    Ok(())
}

fn is_interim(status: u16) -> Result<bool, String> {
    if status == 101 {
        return Err(String::from("unsupported response status: 101 Switching Protocols"));
    }
    Ok((100..200).contains(&status))
}

pub(super) fn parse_head(input: &[u8]) -> Result<Option<Facts>, String> {
    match parse_with(&httparse::ParserConfig::default(), input) {
        // Go puts up with fields over several lines; only heads that failed pay for the second look.
        Err(httparse::Error::HeaderName | httparse::Error::HeaderValue) => {
            let mut lenient = httparse::ParserConfig::default();
            lenient.allow_obsolete_multiline_headers_in_responses(true);
            let facts = parse_with(&lenient, input).map_err(|e| malformed(input, e))?.transpose()?;
            Ok(facts.map(|facts| Facts { folded: true, ..facts }))
        }
        Err(error) => Err(malformed(input, error)),
        Ok(facts) => facts.transpose(),
    }
}

/// `None` while the head is incomplete; the inner error is about what the fields say.
fn parse_with(config: &httparse::ParserConfig, input: &[u8]) -> Result<Option<Result<Facts, String>>, httparse::Error> {
    let mut fields = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut []);
    let window = &input[..input.len().min(MAX_HEAD + 1)];
    let httparse::Status::Complete(head_len) =
        config.parse_response_with_uninit_headers(&mut parsed, window, &mut fields)?
    else {
        return Ok(None);
    };
    Ok(Some(Facts::of(&parsed, head_len)))
}

/// RFC 9112 5.2: a fold is read as spaces.
fn unfold(head: &[u8]) -> Bytes {
    let mut plain = head.to_vec();
    for at in 1..plain.len() {
        if plain[at - 1] == b'\n' && matches!(plain[at], b' ' | b'\t') {
            plain[at - 1] = b' ';
            if at >= 2 && plain[at - 2] == b'\r' {
                plain[at - 2] = b' ';
            }
        }
    }
    Bytes::from(plain)
}

impl Facts {
    fn of(parsed: &httparse::Response<'_, '_>, head_len: usize) -> Result<Facts, String> {
        check_head_size(head_len)?;
        let http_10 = parsed.version == Some(0);
        let status = parsed.code.unwrap_or(0);
        let (length, chunked, folded) = (None, false, false);
        let (keep_alive, marks) = (!http_10, Marks::default());
        let mut facts = Facts { head_len, status, http_10, length, chunked, keep_alive, folded, marks };
        for field in parsed.headers.iter() {
            facts.learn(field.name, field.value)?;
        }
        if facts.chunked && facts.length.take().is_some() {
            facts.keep_alive = false;
        }
        Ok(facts)
    }

    fn learn(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        // Five names matter; their lengths tell most others apart without a comparison.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") => {
                let length = parse_length(value)?;
                if self.length.is_some_and(|before| before != length) {
                    let before = self.length.unwrap_or_default().to_string();
                    let text = String::from_utf8_lossy(value);
                    return Err(format!(
                        "http: message cannot contain multiple Content-Length headers; got [{before:?} {text:?}]"
                    ));
                }
                self.length = Some(length);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    let text = String::from_utf8_lossy(value);
                    return Err(format!("unsupported transfer encoding: {text:?}"));
                }
                self.chunked = true;
            }
            10 if name.eq_ignore_ascii_case("set-cookie") => self.marks.sets_cookie = true,
            16 if name.eq_ignore_ascii_case("content-encoding") => self.marks.is_coded = true,
            10 if name.eq_ignore_ascii_case("connection") => {
                for token in value.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
                    if token.eq_ignore_ascii_case(b"close") {
                        self.keep_alive = false;
                    } else if token.eq_ignore_ascii_case(b"keep-alive") && self.http_10 {
                        self.keep_alive = true;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// A length, or a list of equal ones (RFC 9110 8.6).
fn parse_length(value: &[u8]) -> Result<u64, String> {
    let bad = || format!("bad Content-Length {:?}", String::from_utf8_lossy(value));
    let mut known = None;
    for item in value.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
        if item.is_empty() || !item.iter().all(u8::is_ascii_digit) {
            return Err(bad());
        }
        let text = std::str::from_utf8(item).map_err(|_| bad())?;
        let length: u64 = text.parse().map_err(|_| bad())?;
        if known.is_some_and(|before| before != length) {
            return Err(bad());
        }
        known = Some(length);
    }
    known.ok_or_else(bad)
}

fn malformed(input: &[u8], error: httparse::Error) -> String {
    let line = input.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end();
    let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
    match error {
        httparse::Error::TooManyHeaders => {
            format!("response head with more than the limit of {MAX_FIELDS} header fields")
        }
        httparse::Error::Version => format!("malformed HTTP response {shown:?}"),
        httparse::Error::Status => {
            let code = line.split(|b| *b == b' ').nth(1).unwrap_or_default();
            format!("malformed HTTP status code {:?}", String::from_utf8_lossy(&code[..code.len().min(80)]))
        }
        error => format!("malformed HTTP response head: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{FailureKind, Step};

    /// A read is made short only for the sake of bodies that can be dropped by their length.
    #[test]
    fn only_a_length_of_the_head_is_one() {
        for (response, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
        ] {
            let mut place = Err(Failure { step: Step::Wait, kind: FailureKind::Other, message: String::new() });
            let mut reader = ResponseReader::new(false, BodyUse::Discard);
            let fed = reader.feed(response.as_bytes(), &KnownHeads::default(), &mut place);
            assert_eq!(fed, Ok(Fed::Complete { surplus: 0 }), "{response}");
            assert_eq!(reader.finished().map(|finished| finished.has_length), Some(expected), "{response}");
        }
    }
}
