//! What a response head says about its message: status, framing, whether the connection continues.
//!
//! Refuses contradicting lengths and transfer codings other than chunked. Both Transfer-Encoding and Content-Length:
//! the former wins and the connection is not kept (RFC 9112 6.3).

use super::framing::{BodyFraming, FramingError, FramingFields};
use crate::Role;
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
        let (mut framing, mut marks) = (FramingFields::default(), Marks::default());
        for (name, value) in fields {
            if framing.read(Role::Client, name, value).map_err(|error| in_words(error, value))? {
                continue;
            }
            match name.len() {
                10 if name.eq_ignore_ascii_case(b"set-cookie") => marks.sets_cookie = true,
                16 if name.eq_ignore_ascii_case(b"content-encoding") => marks.is_coded = true,
                _ => {}
            }
        }
        let FramingFields { length, chunked, .. } = framing;
        let keep_alive = framing.keeps_alive(http_10) && !(chunked && length.is_some());
        let length = length.filter(|_| !chunked);
        Ok(Facts { head_len, status, http_10, length, chunked, keep_alive, folded: false, marks })
    }

    /// How the end of its body is found, where it has one.
    pub(super) fn body_framing(&self) -> BodyFraming {
        match self.length {
            _ if self.chunked => BodyFraming::Chunked,
            Some(length) => BodyFraming::Length(length),
            None => BodyFraming::UntilClose,
        }
    }
}

// Cold: it makes a text for a server that did something wrong.
#[cold]
fn in_words(error: FramingError, value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match error {
        FramingError::Length => format!("bad Content-Length {text:?}"),
        FramingError::SecondLength(before) => {
            let before = before.to_string();
            format!("http: message cannot contain multiple Content-Length headers; got [{before:?} {text:?}]")
        }
        FramingError::Coding => format!("unsupported transfer encoding: {text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &str)]) -> Facts {
        let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        Facts::of(1, 200, false, fields).unwrap()
    }

    #[test]
    fn cookies_and_codings_are_marked_so_that_others_need_not_be_searched_for_them() {
        for (name, sets_cookie, is_coded) in [
            ("Set-Cookie", true, false),
            ("set-cookie2", false, false),
            ("Max-Cookie", false, false),
            ("CONTENT-ENCODING", false, true),
            ("Content-Language", false, false),
        ] {
            let marks = of(&[("A", "b"), (name, "gzip")]).marks;
            assert_eq!((marks.sets_cookie, marks.is_coded), (sets_cookie, is_coded), "{name}");
        }
    }

    #[test]
    fn chunked_wins_over_a_length_and_costs_the_connection() {
        let (length, chunked) = (("Content-Length", "3"), ("Transfer-Encoding", "chunked"));
        for (fields, framing, keep_alive) in [
            (&[][..], BodyFraming::UntilClose, true),
            (&[length], BodyFraming::Length(3), true),
            (&[chunked], BodyFraming::Chunked, true),
            (&[chunked, length], BodyFraming::Chunked, false),
        ] {
            let facts = of(fields);
            assert_eq!((facts.body_framing(), facts.keep_alive), (framing, keep_alive), "{fields:?}");
        }
    }
}
