//! Close codes and the payload of close frames (RFC 6455 5.5.1 and 7.4).
//!
//! Refuses codes that must not stand in a frame, reasons that are not UTF-8, and a code of one byte.

use super::Violation;

/// The purpose of the connection is fulfilled.
pub const NORMAL: u16 = 1000;
/// The endpoint goes away: a server that shuts down, a user that leaves.
pub const GOING_AWAY: u16 = 1001;
/// The peer broke the protocol.
pub const PROTOCOL_ERROR: u16 = 1002;
/// A close frame came without a code. Never sent.
pub const NO_STATUS: u16 = 1005;
/// The connection ended without a close frame. Never sent.
pub const ABNORMAL: u16 = 1006;
/// A message held data that does not fit its kind: text that is not UTF-8, a body that does not inflate.
pub const INVALID_PAYLOAD: u16 = 1007;
/// A message is larger than the receiver takes.
pub const TOO_BIG: u16 = 1009;

/// Bytes of a reason at most: a control frame has room for 125, two of which are the code.
pub const MAX_REASON: usize = 123;

/// What a close frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseReason<'a> {
    /// 1000 to 4999, none of the reserved ones.
    pub code: u16,
    /// At most 123 bytes.
    pub reason: &'a str,
}

/// Whether a frame may carry the code: registered by 2026 or in the ranges for libraries and applications.
pub fn is_sendable(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// Reads the payload of a close frame; `None` when it is empty.
pub(crate) fn parse(payload: &[u8]) -> Result<Option<CloseReason<'_>>, Violation> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return match payload {
            [] => Ok(None),
            _ => Err(Violation::protocol("the close frame holds half a code")),
        };
    };
    let code = u16::from_be_bytes(*code);
    if !is_sendable(code) {
        return Err(Violation::protocol("the close frame holds a code that must not be sent"));
    }
    let reason = std::str::from_utf8(reason).map_err(|_| Violation::not_utf8())?;
    Ok(Some(CloseReason { code, reason }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads() {
        assert_eq!(parse(b""), Ok(None));
        assert_eq!(parse(b"\x03\xe8bye"), Ok(Some(CloseReason { code: 1000, reason: "bye" })));
        assert_eq!(parse(b"\x03").unwrap_err().code, PROTOCOL_ERROR);
        assert_eq!(parse(b"\x03\xe8\xff").unwrap_err().code, INVALID_PAYLOAD);
    }

    #[test]
    fn codes_that_stand_in_frames() {
        for code in [1000, 1003, 1007, 1011, 1014, 3000, 4999] {
            assert!(is_sendable(code), "{code}");
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535] {
            assert!(!is_sendable(code), "{code}");
        }
    }
}
