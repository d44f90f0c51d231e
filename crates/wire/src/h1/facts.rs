//! What a response head says about its message: status, framing, whether the connection goes on.
//!
//! Refuses contradicting lengths and transfer codings other than chunked. Both Transfer-Encoding and Content-Length: the
//! former wins and the connection is not kept (RFC 9112 6.3).

use crate::response::Marks;

/// What a head says about the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Bytes of the head, empty line included.
    pub(crate) head_len: usize,
    pub(crate) status: u16,
    pub(super) http_10: bool,
    pub(super) length: Option<u64>,
    pub(super) chunked: bool,
    pub(super) keep_alive: bool,
    /// Some field goes over several lines (obs-fold).
    pub(super) folded: bool,
    pub(super) marks: Marks,
}

impl Facts {
    /// Of a head whose fields are given in order; the error is for people.
    pub(super) fn of<'h>(
        head_len: usize,
        status: u16,
        http_10: bool,
        fields: impl Iterator<Item = (&'h [u8], &'h [u8])>,
    ) -> Result<Facts, String> {
        let (length, chunked, folded) = (None, false, false);
        let (keep_alive, marks) = (!http_10, Marks::default());
        let mut facts = Facts { head_len, status, http_10, length, chunked, keep_alive, folded, marks };
        for (name, value) in fields {
            facts.learn(name, value)?;
        }
        if facts.chunked && facts.length.take().is_some() {
            facts.keep_alive = false;
        }
        Ok(facts)
    }

    fn learn(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        // Five names matter; their lengths tell most others apart without a comparison.
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => {
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
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                if !value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    let text = String::from_utf8_lossy(value);
                    return Err(format!("unsupported transfer encoding: {text:?}"));
                }
                self.chunked = true;
            }
            10 if name.eq_ignore_ascii_case(b"set-cookie") => self.marks.sets_cookie = true,
            16 if name.eq_ignore_ascii_case(b"content-encoding") => self.marks.is_coded = true,
            10 if name.eq_ignore_ascii_case(b"connection") => {
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
