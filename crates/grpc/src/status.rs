//! How a call ended: its code, its message, and what a server's trailers and heads say of both.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The codes, in order, as they are named in texts.
const NAMES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

/// All went well.
pub const OK: u32 = 0;
/// The caller gave up.
pub const CANCELED: u32 = 1;
/// No status that is known.
pub const UNKNOWN: u32 = 2;
/// The request makes no sense, whatever the state of the server.
pub const INVALID_ARGUMENT: u32 = 3;
/// The time was over.
pub const DEADLINE_EXCEEDED: u32 = 4;
/// What was asked for is not there.
pub const NOT_FOUND: u32 = 5;
/// Too large, or too much.
pub const RESOURCE_EXHAUSTED: u32 = 8;
/// No such method.
pub const UNIMPLEMENTED: u32 = 12;
/// One side broke the protocol.
pub const INTERNAL: u32 = 13;
/// The server cannot be reached.
pub const UNAVAILABLE: u32 = 14;
/// No credentials that are good.
pub const UNAUTHENTICATED: u32 = 16;

/// What a `grpc-message` must not have as it is, besides what is not ASCII.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// 0 is OK.
    pub code: u32,
    /// For people.
    pub message: String,
}

impl Status {
    /// A status.
    pub fn new(code: u32, message: impl Into<String>) -> Status {
        Status { code, message: message.into() }
    }

    /// What trailers say; `None` when there is no `grpc-status` in them.
    pub fn from_fields(status: Option<&[u8]>, message: Option<&[u8]>) -> Option<Status> {
        let text = std::str::from_utf8(status?).ok();
        let Some(code) = text.and_then(|text| text.parse().ok()) else {
            let shown = String::from_utf8_lossy(status?).into_owned();
            return Some(Status::new(UNKNOWN, format!("malformed grpc-status: {shown:?}")));
        };
        let message = String::from_utf8_lossy(message.unwrap_or_default());
        Some(Status::new(code, percent_decode_str(&message).decode_utf8_lossy()))
    }

    /// The message as a `grpc-message` has it.
    pub fn escaped_message(&self) -> String {
        utf8_percent_encode(&self.message, ESCAPED).to_string()
    }

    /// What an answer of HTTP without a gRPC status stands for.
    pub fn from_http(status: u16, message: String) -> Status {
        let code = match status {
            400 => INTERNAL,
            401 => UNAUTHENTICATED,
            403 => 7,
            404 => UNIMPLEMENTED,
            429 | 502 | 503 | 504 => UNAVAILABLE,
            _ => UNKNOWN,
        };
        Status { code, message }
    }

    /// What a stream that was reset with this code of HTTP/2, which has this name, stands for.
    pub fn from_reset(reason: u32, name: Option<&str>) -> Status {
        let code = match reason {
            7 => UNAVAILABLE,
            8 => CANCELED,
            11 => RESOURCE_EXHAUSTED,
            12 => 7,
            _ => INTERNAL,
        };
        let name = name.map_or_else(|| reason.to_string(), String::from);
        Status::new(code, format!("stream terminated by RST_STREAM with error code: {name}"))
    }

    /// The code's name.
    pub fn name(&self) -> String {
        name(self.code)
    }
}

/// A code's name.
pub fn name(code: u32) -> String {
    NAMES.get(code as usize).map_or_else(|| format!("Code({code})"), |name| String::from(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_say_how_it_ended() {
        let status = |code: &str, message: &str| Status::from_fields(Some(code.as_bytes()), Some(message.as_bytes()));
        assert_eq!(status("0", ""), Some(Status::default()));
        assert_eq!(status("5", "n%C3%BC 100%25 %"), Some(Status::new(5, "nü 100% %")));
        assert_eq!(status("99", "odd"), Some(Status::new(99, "odd")));
        assert_eq!(status("x", ""), Some(Status::new(UNKNOWN, "malformed grpc-status: \"x\"")));
        assert_eq!(Status::new(5, "nü 100%\n").escaped_message(), "n%C3%BC 100%25%0A");
        assert_eq!(Status::from_fields(None, None), None);
        assert_eq!((name(16), name(99)), ("Unauthenticated".into(), "Code(99)".into()));
        assert_eq!(Status::from_reset(7, None).code, UNAVAILABLE);
        assert_eq!(Status::from_http(404, String::new()).code, UNIMPLEMENTED);
    }
}
