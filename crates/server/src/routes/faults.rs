//! Routes that misbehave, each always in the same way.

use std::borrow::Cow;
use std::time::Duration;

use crate::fault::{Fault, Then};
use crate::outgoing::respond::{Reply, Response};
use crate::request::Request;

fn fault(bytes: impl Into<Cow<'static, [u8]>>, then: Then) -> Reply {
    Reply::Fault(Fault { bytes: bytes.into(), each: None, then })
}

pub(crate) fn reset(_: &Request<'_>) -> Reply {
    fault(&b""[..], Then::Reset)
}

pub(crate) fn stall(_: &Request<'_>) -> Reply {
    fault(&b""[..], Then::Stall)
}

pub(crate) fn no_response(_: &Request<'_>) -> Reply {
    fault(&b""[..], Then::Close)
}

/// A correct response, head and all, a byte at a time.
pub(crate) fn slow(request: &Request<'_>) -> Reply {
    const SLOW: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nslow\n";
    match request.number("rate", 20, 1..=1_000_000) {
        Ok(rate) => {
            let each = Some(Duration::from_secs(1) / rate as u32);
            Reply::Fault(Fault { bytes: SLOW.into(), each, then: Then::GoOn })
        }
        Err(reply) => *reply,
    }
}

/// 1,000 bytes declared, 500 sent.
pub(crate) fn partial(_: &Request<'_>) -> Reply {
    let mut bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n".to_vec();
    bytes.extend_from_slice(&[b'x'; 500]);
    fault(bytes, Then::Close)
}

/// 10 bytes declared, 20 sent: the rest is in front of the next response.
pub(crate) fn wrong_length(_: &Request<'_>) -> Reply {
    fault(
        &b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n01234567890123456789"[..],
        Then::GoOn,
    )
}

pub(crate) fn garbage(_: &Request<'_>) -> Reply {
    fault(&b"\x00\x01\x02 this is not http\r\n\r\n"[..], Then::Close)
}

/// A good chunk, then an invalid size.
pub(crate) fn bad_chunk(_: &Request<'_>) -> Reply {
    fault(
        &b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: \
            chunked\r\n\r\n5\r\nhello\r\nzz\r\nworld\r\n"[..],
        Then::Close,
    )
}

/// A response that is correct but for a header of `kb` KiB.
pub(crate) fn big_header(request: &Request<'_>) -> Reply {
    match request.number("kb", 64, 0..=16 * 1024) {
        Ok(kb) => Response::text(200, "big header\n").header("X-Big", "x".repeat(kb as usize * 1024)).into(),
        Err(reply) => *reply,
    }
}

/// Looks like a keep-alive response, and then the server closes without having said so.
pub(crate) fn close_idle(request: &Request<'_>) -> Reply {
    match request.duration("after", Duration::ZERO) {
        Ok(after) => fault(
            &b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\nConnection: \
                keep-alive\r\n\r\nclosed\n"[..],
            Then::CloseAfter(after),
        ),
        Err(reply) => *reply,
    }
}
