//! The head of a request as fields, made once for all connections that send it.
//!
//! Names and values are checked here, so that whoever sends a head need not. Which fields a connection's table should
//! keep is decided here too: what says who somebody is never goes into a table (RFC 7541 7.1.3), and what is different
//! each time would only push out what is not.

use std::borrow::Cow;
use std::cell::Cell;

use super::static_table;
use crate::failure::{Failure, FailureKind, Step};
use crate::syntax::field::{is_token, is_value};

/// The head of a request, ready for a stream.
#[derive(Debug)]
pub(crate) struct Http2Head {
    text: Vec<u8>,
    fields: Vec<HeadField>,
    /// The same head has the same number.
    number: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct HeadField {
    name: usize,
    value: usize,
    end: usize,
    index: u8,
    index_of_name: u8,
    keep: KeepField,
}

/// What a connection's table does with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepField {
    Yes,
    No,
    /// Nor any table behind it.
    Never,
}

/// A field to send.
pub(super) struct SentField<'h> {
    pub(super) name: &'h [u8],
    pub(super) value: &'h [u8],
    /// Of this field, and of its name, among those that need no sending; 0 for none.
    pub(super) index: u8,
    pub(super) index_of_name: u8,
    pub(super) keep: KeepField,
}

impl Http2Head {
    pub(super) fn fields(&self) -> impl Iterator<Item = SentField<'_>> {
        self.fields.iter().map(|field| SentField {
            name: &self.text[field.name..field.value],
            value: &self.text[field.value..field.end],
            index: field.index,
            index_of_name: field.index_of_name,
            keep: field.keep,
        })
    }

    /// What tells it from all others of the thread, if it is sent more than once.
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }
}

#[cfg(test)]
impl std::fmt::Display for Http2Head {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields: Vec<String> =
            self.fields().map(|field| format!("{}={}", text(field.name), text(field.value))).collect();
        out.write_str(&fields.join(" "))
    }
}

/// Puts a head together.
pub(crate) struct HeadBuilder(Http2Head);

/// A cookie shorter than this can be guessed by trying, when a table tells whether it was right.
const SHORT_COOKIE: usize = 20;

impl HeadBuilder {
    /// `is_constant`: the same head is sent again and again.
    pub(crate) fn new(is_constant: bool) -> HeadBuilder {
        thread_local!(static NEXT: Cell<u64> = const { Cell::new(0) });
        let number = is_constant.then(|| NEXT.replace(NEXT.get() + 1));
        HeadBuilder(Http2Head { text: Vec::with_capacity(256), fields: Vec::with_capacity(12), number })
    }

    /// Where the request goes. `target` as it stands in a request line.
    pub(crate) fn request(
        &mut self,
        method: &[u8],
        scheme: &str,
        authority: &[u8],
        target: &[u8],
    ) -> Result<(), Failure> {
        if !is_token(method) {
            return Err(refused("method", method));
        }
        if authority.is_empty() || !authority.iter().all(u8::is_ascii_graphic) {
            return Err(refused("Host", authority));
        }
        if target.is_empty() || target.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) {
            return Err(refused("request target", target));
        }
        self.put(b":method", method);
        if method != b"CONNECT" {
            self.put(b":scheme", scheme.as_bytes());
        }
        self.put(b":authority", authority);
        if method != b"CONNECT" {
            self.put(b":path", target);
        }
        Ok(())
    }

    /// A field, its name in any case.
    pub(crate) fn field(&mut self, name: &[u8], value: &[u8]) -> Result<(), Failure> {
        if !is_token(name) {
            return Err(refused("header field name", name));
        }
        if !is_value(value) {
            return Err(refused("header field value", value));
        }
        let lower = name.to_ascii_lowercase();
        if lower != b"cookie" {
            self.put(&lower, value);
            return Ok(());
        }
        // One field a cookie, which HPACK then knows each for itself (RFC 9113 8.2.3).
        let crumbs = value.split(|b| *b == b';').map(<[u8]>::trim_ascii).filter(|crumb| !crumb.is_empty());
        crumbs.for_each(|crumb| self.put(b"cookie", crumb));
        Ok(())
    }

    pub(crate) fn build(self) -> Http2Head {
        self.0
    }

    fn put(&mut self, name: &[u8], value: &[u8]) {
        let Http2Head { text, fields, number } = &mut self.0;
        let keep = match name {
            b"authorization" | b"proxy-authorization" => KeepField::Never,
            b"cookie" if value.len() < SHORT_COOKIE => KeepField::Never,
            b":path" | b"content-length" | b"idempotency-key" if number.is_none() => KeepField::No,
            // Of traces: each request has another one.
            b"traceparent" | b"b3" | b"x-b3-traceid" | b"x-b3-spanid" | b"uber-trace-id" => KeepField::No,
            _ => KeepField::Yes,
        };
        let (index, index_of_name) = static_table::find(name, value);
        let start = text.len();
        text.extend_from_slice(name);
        text.extend_from_slice(value);
        fields.push(HeadField { name: start, value: start + name.len(), end: text.len(), index, index_of_name, keep });
    }
}

fn refused(what: &str, value: &[u8]) -> Failure {
    let message = format!("http2: invalid {what} \"{}\"", value.escape_ascii());
    Failure { step: Step::Prepare, kind: FailureKind::Other, message }
}

/// Bytes that Go sends in a query as they are, and that no request target may have.
const UNQUOTED: &[u8] = b"\"<>\\^`{|}";

/// A target with those bytes percent-encoded.
pub(crate) fn quoted(target: &[u8]) -> Cow<'_, [u8]> {
    if !target.iter().any(|byte| UNQUOTED.contains(byte)) {
        return Cow::Borrowed(target);
    }
    let mut out = Vec::with_capacity(target.len() + 16);
    for byte in target {
        match byte {
            byte if UNQUOTED.contains(byte) => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    Cow::Owned(out)
}
