//! Parts of a body: the `Range` header of one range of bytes (RFC 9110 section 14).
//!
//! Several ranges, other units and malformed headers are ignored, as the RFC allows: the whole is sent.

use std::borrow::Cow;

use bytes::Bytes;

use crate::outgoing::respond::{Body, Response};
use crate::request::Request;

/// What a `Range` header asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Nothing that is obeyed.
    Whole,
    Outside,
    /// From, and the end not included.
    Part(u64, u64),
}

impl Response {
    /// Answers a `Range` header, given as text: 206 with that part, 416 when the body has no such part, else this
    /// response.
    ///
    /// Only for status 200 and bodies that lie ready: `Static`, `Bytes`, `Shared` and `File`.
    #[must_use]
    pub fn within(mut self, range: Option<&str>) -> Self {
        let ready = matches!(self.body, Body::Static(_) | Body::Bytes(_) | Body::Shared(_) | Body::File { .. });
        let Some(total) = self.body.length().filter(|_| ready && self.status == 200) else { return self };
        self = self.header("Accept-Ranges", "bytes");
        match range.map_or(Asked::Whole, |range| parse(range, total)) {
            Asked::Whole => self,
            Asked::Outside => {
                (self.status, self.body, self.content_type) = (416, Body::Static(b""), None);
                self.header("Content-Range", format!("bytes */{total}"))
            }
            Asked::Part(from, end) => {
                debug_assert!(from < end && end <= total, "bytes {from} to {end} of {total}");
                self.status = 206;
                self.body = part(self.body, from, end);
                self.header("Content-Range", format!("bytes {from}-{}/{total}", end - 1))
            }
        }
    }
}

/// The `Range` header, unless an `If-Range` says that it is for another body than the one of this entity tag.
pub(crate) fn asked<'r>(request: &'r Request<'_>, tag: Option<&str>) -> Option<Cow<'r, str>> {
    let applies = request.header("if-range").is_none_or(|given| tag == Some(&*given));
    request.header("range").filter(|_| applies)
}

fn part(body: Body, from: u64, end: u64) -> Body {
    debug_assert!(body.length().is_some_and(|length| end <= length), "the part lies within the body: {from} to {end}");
    let part = from as usize..end as usize;
    match body {
        Body::Static(bytes) => Body::Static(&bytes[part]),
        Body::Bytes(bytes) => Body::Shared(Bytes::from(bytes).slice(part)),
        Body::Shared(bytes) => Body::Shared(bytes.slice(part)),
        Body::File { file, offset, .. } => Body::File { file, offset: offset + from, length: end - from },
        other => other,
    }
}

pub(crate) fn parse(header: &str, total: u64) -> Asked {
    let Some((from, to)) = header.strip_prefix("bytes=").and_then(|r| r.split_once('-')) else {
        return Asked::Whole;
    };
    match (position(from), position(to)) {
        (Some(from), Some(to)) if to < from => Asked::Whole,
        (_, None) if !to.is_empty() => Asked::Whole,
        (Some(from), _) if from >= total => Asked::Outside,
        (Some(from), Some(to)) => Asked::Part(from, to.saturating_add(1).min(total)),
        (Some(from), None) => Asked::Part(from, total),
        (None, Some(0)) if from.is_empty() => Asked::Outside,
        (None, Some(last)) if from.is_empty() && total > 0 => Asked::Part(total.saturating_sub(last), total),
        _ => Asked::Whole,
    }
}

/// Digits alone: `+5` is no position. One beyond all bodies is a position too, and means their end.
fn position(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (header, want) in [
            ("bytes=0-0", Asked::Part(0, 1)),
            ("bytes=5-", Asked::Part(5, 10)),
            ("bytes=5-99", Asked::Part(5, 10)),
            ("bytes=-3", Asked::Part(7, 10)),
            ("bytes=-30", Asked::Part(0, 10)),
            ("bytes=10-", Asked::Outside),
            ("bytes=-0", Asked::Outside),
            ("bytes=3-2", Asked::Whole),
            ("bytes=0-1,3-4", Asked::Whole),
            ("lines=0-1", Asked::Whole),
            ("bytes=+1-2", Asked::Whole),
            ("bytes=99-x", Asked::Whole),
            ("bytes=5-99999999999999999999", Asked::Part(5, 10)),
            ("bytes=99999999999999999999-", Asked::Outside),
            ("bytes=-99999999999999999999", Asked::Part(0, 10)),
        ] {
            assert_eq!(parse(header, 10), want, "{header}");
        }
    }

    #[test]
    fn only_whole_bodies_that_lie_ready_have_parts() {
        let array = || Body::Array(vec![Bytes::from_static(b"0123456789")]);
        for (status, body, want) in [
            (200, Body::Static(b"0123456789"), 206),
            (200, Body::Bytes(b"0123456789".to_vec()), 206),
            (200, array(), 200),
            (404, Body::Static(b"0123456789"), 404),
        ] {
            let response = Response::bare(status, body).within(Some("bytes=2-3"));
            assert_eq!((response.status, response.body.length()), (want, Some(if want == 206 { 2 } else { 10 })));
        }
    }
}
