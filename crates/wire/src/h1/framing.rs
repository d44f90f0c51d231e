//! The header fields that frame a message (RFC 9112 6 and 9.3): lengths, transfer codings, whether the connection
//! continues.
//!
//! Both roles read them here. A client reads what servers that k6 can test send: equal lengths may be repeated. A
//! server refuses what another reader of the same bytes could take differently. Invariant: a field is judged when it is
//! seen, once.

use crate::Role;

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFraming {
    /// There is no body.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunked coding.
    Chunked,
    /// By the end of the connection: responses alone.
    UntilClose,
}

/// What the framing fields of a head have said so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FramingFields {
    pub(super) length: Option<u64>,
    pub(super) chunked: bool,
    close: bool,
    keep_alive: bool,
}

/// What is wrong with a framing field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramingError {
    /// Content-Length is no number.
    Length,
    /// There was another Content-Length before: this one.
    SecondLength(u64),
    /// The transfer coding is not chunked, or named twice.
    Coding,
}

impl FramingFields {
    /// Reads a field; whether it is one of those that frame a message.
    // Inlined: a server does this for each field of each request.
    #[inline(always)]
    pub(super) fn read(&mut self, role: Role, name: &[u8], value: &[u8]) -> Result<bool, FramingError> {
        // Three names matter; their lengths tell most others apart without a comparison.
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.close |= has_token(value, b"close");
                self.keep_alive |= has_token(value, b"keep-alive");
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => self.read_length(role, value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                let repeated = std::mem::replace(&mut self.chunked, true) && role == Role::Server;
                if repeated || !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(FramingError::Coding);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_length(&mut self, role: Role, value: &[u8]) -> Result<(), FramingError> {
        let length = match role {
            Role::Client => equal_decimals(value),
            Role::Server => decimal(value),
        };
        let length = length.ok_or(FramingError::Length)?;
        match self.length.replace(length) {
            Some(before) if role == Role::Server || before != length => Err(FramingError::SecondLength(before)),
            _ => Ok(()),
        }
    }

    /// Whether the sender leaves the connection open behind this message.
    pub(super) fn keeps_alive(&self, http_10: bool) -> bool {
        !self.close && (!http_10 || self.keep_alive)
    }
}

/// Whether a comma-separated list has that element, compared without case.
pub(super) fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|b| *b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

/// A length, or a list of equal ones (RFC 9110 8.6).
fn equal_decimals(value: &[u8]) -> Option<u64> {
    let mut items = value.split(|b| *b == b',').map(|item| decimal(item.trim_ascii()));
    let first = items.next()??;
    items.all(|item| item == Some(first)).then_some(first)
}

/// Digits alone: neither a sign nor a space.
fn decimal(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(role: Role, fields: &[(&str, &str)]) -> Result<FramingFields, FramingError> {
        let mut framing = FramingFields::default();
        for (name, value) in fields {
            framing.read(role, name.as_bytes(), value.as_bytes())?;
        }
        Ok(framing)
    }

    #[test]
    fn lengths_are_digits_and_a_server_takes_one() {
        let repeated = [("Content-Length", "3"), ("content-length", "3")];
        assert_eq!(read(Role::Client, &repeated).unwrap().length, Some(3));
        assert_eq!(read(Role::Server, &repeated).unwrap_err(), FramingError::SecondLength(3));
        assert_eq!(read(Role::Client, &[("Content-Length", "3, 3")]).unwrap().length, Some(3));
        assert_eq!(read(Role::Server, &[("Content-Length", "3, 3")]).unwrap_err(), FramingError::Length);
        let other = [("Content-Length", "3"), ("Content-Length", "4")];
        assert_eq!(read(Role::Client, &other).unwrap_err(), FramingError::SecondLength(3));
        for bad in ["", "+3", "-1", "3,4", "3,", "0x3", "18446744073709551616"] {
            assert_eq!(read(Role::Client, &[("Content-Length", bad)]).unwrap_err(), FramingError::Length, "{bad}");
            assert_eq!(read(Role::Server, &[("Content-Length", bad)]).unwrap_err(), FramingError::Length, "{bad}");
        }
        assert_eq!(read(Role::Server, &[("Content-Length", "18446744073709551615")]).unwrap().length, Some(u64::MAX));
    }

    #[test]
    fn chunked_is_the_one_coding() {
        let twice = [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "Chunked")];
        assert!(read(Role::Client, &twice).unwrap().chunked);
        assert_eq!(read(Role::Server, &twice).unwrap_err(), FramingError::Coding);
        for bad in ["gzip", "gzip, chunked", "chunked, chunked", ""] {
            for role in [Role::Client, Role::Server] {
                assert_eq!(read(role, &[("transfer-encoding", bad)]).unwrap_err(), FramingError::Coding, "{bad}");
            }
        }
    }

    #[test]
    fn who_closes_and_who_keeps() {
        for (value, of_11, of_10) in [
            ("close", false, false),
            ("x, Close", false, false),
            ("keep-alive", true, true),
            ("Keep-Alive, close", false, false),
            ("upgrade", true, false),
            ("closed", true, false),
        ] {
            let fields = read(Role::Client, &[("Connection", value)]).unwrap();
            assert_eq!((fields.keeps_alive(false), fields.keeps_alive(true)), (of_11, of_10), "{value}");
        }
        let none = FramingFields::default();
        assert!(none.keeps_alive(false) && !none.keeps_alive(true));
        assert_eq!(FramingFields::default().read(Role::Server, b"content-lengt", b"x"), Ok(false));
    }
}
