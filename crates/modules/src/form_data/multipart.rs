//! multipart/form-data (RFC 7578): a list of parts becomes a `wire::Payload` whose contents are segments of their own.
//!
//! Heads and short contents gather in one buffer between two contents, so that a form costs few segments and long
//! contents no copy. Names and filenames cannot break out of their quotes and add no header lines; a content type that
//! would is for the caller to refuse (`type_problem`). Nothing here knows scripts.

use std::mem;

use bytes::Bytes;
use wire::{Payload, Segment};

/// Characters of a generated boundary: the most that RFC 2046 allows.
const BOUNDARY_LEN: usize = 70;
const BOUNDARY_PREFIX: &[u8] = b"----onrush";
/// Room for the heads of a few parts, so that they are written without growing.
const PENDING: usize = 512;
/// Digits as Go's boundaries have them, and so k6's.
const GO_BOUNDARY_LEN: usize = 60;

/// How names and filenames stand inside of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// As browsers do: `%22`, `%0D`, `%0A`.
    Percent,
    /// As Go does and so k6: `\"` and `\\`; line breaks as browsers do.
    Backslash,
}

/// What a part says of itself.
#[derive(Clone, Copy, Debug)]
pub struct PartHead<'a> {
    /// Name of the field.
    pub name: &'a [u8],
    /// Name of the file, when it is one.
    pub filename: Option<&'a [u8]>,
    /// Content-Type, a text that `type_problem` finds nothing in; no such line without.
    pub content_type: Option<&'a [u8]>,
}

/// A form being written.
pub struct Multipart<'a> {
    boundary: &'a [u8],
    quoting: Quoting,
    payload: Payload,
    /// What follows the last content that has a segment of its own.
    pending: Vec<u8>,
    is_empty: bool,
}

impl<'a> Multipart<'a> {
    /// No parts yet.
    pub fn new(boundary: &'a str, quoting: Quoting) -> Multipart<'a> {
        Multipart {
            boundary: boundary.as_bytes(),
            quoting,
            payload: Payload::empty(),
            pending: Vec::with_capacity(PENDING),
            is_empty: true,
        }
    }

    /// Adds a part with a short content, which is copied.
    pub fn short_part(&mut self, head: &PartHead<'_>, content: &[u8]) {
        self.head(head);
        self.pending.extend_from_slice(content);
    }

    /// Adds a part whose content stays where it is.
    pub fn part(&mut self, head: &PartHead<'_>, content: &Payload) {
        self.head(head);
        if content.is_empty() {
            return;
        }
        self.flush();
        content.segments().iter().for_each(|segment| self.payload.push(segment.clone()));
    }

    /// Ends the form.
    pub fn finish(mut self) -> Payload {
        debug_assert!(!self.is_empty || self.payload.is_empty(), "content stands behind the head of its part");
        self.delimiter();
        debug_assert!(self.pending.ends_with(self.boundary), "the last line is the boundary with two hyphens");
        self.pending.extend_from_slice(b"--\r\n");
        self.payload.push(Segment::Shared(Bytes::from(self.pending)));
        self.payload
    }

    fn delimiter(&mut self) {
        if !mem::replace(&mut self.is_empty, false) {
            self.pending.extend_from_slice(b"\r\n");
        }
        self.pending.extend_from_slice(b"--");
        self.pending.extend_from_slice(self.boundary);
    }

    fn head(&mut self, head: &PartHead<'_>) {
        self.delimiter();
        self.pending.extend_from_slice(b"\r\nContent-Disposition: form-data; name=\"");
        quote(&mut self.pending, head.name, self.quoting);
        if let Some(filename) = head.filename {
            self.pending.extend_from_slice(b"\"; filename=\"");
            quote(&mut self.pending, filename, self.quoting);
        }
        self.pending.extend_from_slice(b"\"\r\n");
        if let Some(kind) = head.content_type {
            self.pending.extend_from_slice(b"Content-Type: ");
            debug_assert!(type_problem(kind).is_none(), "the type was checked when the part was made");
            self.pending.extend_from_slice(kind);
            self.pending.extend_from_slice(b"\r\n");
        }
        self.pending.extend_from_slice(b"\r\n");
    }

    fn flush(&mut self) {
        let pending = mem::replace(&mut self.pending, Vec::with_capacity(PENDING));
        self.payload.push(Segment::Shared(Bytes::from(pending)));
    }
}

/// Why a text cannot be the Content-Type of a part: it would end its line and begin another.
pub fn type_problem(kind: &[u8]) -> Option<String> {
    if wire::field::is_value(kind) {
        return None;
    }
    let kind = String::from_utf8_lossy(kind);
    wire::field::problem_in(&kind).map(|problem| format!("the content type {kind:?}: {problem}"))
}

/// All special characters are ASCII, so this is right for UTF-8 and for Latin-1.
fn quote(out: &mut Vec<u8>, text: &[u8], quoting: Quoting) {
    if !text.iter().any(|byte| matches!(byte, b'\r' | b'\n' | b'"' | b'\\')) {
        return out.extend_from_slice(text);
    }
    for &byte in text {
        match (byte, quoting) {
            (b'\r', _) => out.extend_from_slice(b"%0D"),
            (b'\n', _) => out.extend_from_slice(b"%0A"),
            (b'"', Quoting::Percent) => out.extend_from_slice(b"%22"),
            (b'"' | b'\\', Quoting::Backslash) => out.extend_from_slice(&[b'\\', byte]),
            _ => out.push(byte),
        }
    }
}

/// A boundary of a form: 240 random bits, so that no content will hold it, not even an earlier form sent back by a
/// server.
pub fn boundary() -> String {
    digits(BOUNDARY_PREFIX, BOUNDARY_LEN)
}

/// A boundary of the shape that k6's have: 60 hexadecimal digits.
pub fn go_boundary() -> String {
    digits(b"", GO_BOUNDARY_LEN)
}

fn digits(prefix: &[u8], len: usize) -> String {
    // Two digits a byte, and all sixteen of a number in a buffer of their own: boundaries are made for every form.
    const PAIRS: [[u8; 2]; 256] = pairs();
    let mut text = Vec::with_capacity(len);
    text.extend_from_slice(prefix);
    while text.len() < len {
        let mut run = [0; 16];
        for (pair, byte) in run.chunks_exact_mut(2).zip(fastrand::u64(..).to_ne_bytes()) {
            pair.copy_from_slice(&PAIRS[usize::from(byte)]);
        }
        text.extend_from_slice(&run[..(len - text.len()).min(run.len())]);
    }
    debug_assert_eq!(text.len(), len);
    String::from_utf8(text).expect("prefix and digits are ASCII")
}

const fn pairs() -> [[u8; 2]; 256] {
    let (mut pairs, mut byte) = ([[0; 2]; 256], 0);
    while byte < pairs.len() {
        pairs[byte] = [b"0123456789abcdef"[byte >> 4], b"0123456789abcdef"[byte & 15]];
        byte += 1;
    }
    pairs
}

/// Whether a boundary may stand in a Content-Type: 1 to 70 characters that need no quotes there.
pub fn is_boundary(text: &str) -> bool {
    // RFC 2046 5.1.1 allows a few more (`/`, `:`, `=`, `?`, `,`, `(`, `)`, a space), but only inside of quotes.
    (1..=BOUNDARY_LEN).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"'+_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(payload: &Payload) -> String {
        let mut bytes = Vec::new();
        payload.read(|piece| bytes.extend_from_slice(piece)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn field(name: &str) -> PartHead<'_> {
        PartHead { name: name.as_bytes(), filename: None, content_type: None }
    }

    fn file<'a>(name: &'a str, filename: &'a str, kind: &'a str) -> PartHead<'a> {
        let (filename, content_type) = (Some(filename.as_bytes()), Some(kind.as_bytes()));
        PartHead { name: name.as_bytes(), filename, content_type }
    }

    #[test]
    fn parts_have_heads_and_contents_have_segments() {
        let mut form = Multipart::new("B", Quoting::Backslash);
        form.short_part(&field("k\"\n"), b"v");
        form.part(&file("f", "n\\.txt", "text/x"), &Payload::from_bytes("abc"));
        form.part(&file("e", "", "a/b"), &Payload::empty());
        form.short_part(&field("z"), b"");
        let payload = form.finish();
        assert_eq!(payload.segments().len(), 3, "one for the file, one for what is before, one for what is after");
        assert_eq!(
            text(&payload),
            "--B\r\nContent-Disposition: form-data; name=\"k\\\"%0A\"\r\n\r\nv\r\n--B\r\nContent-Disposition: \
             form-data; name=\"f\"; filename=\"n\\\\.txt\"\r\nContent-Type: \
             text/x\r\n\r\nabc\r\n--B\r\nContent-Disposition: form-data; name=\"e\"; filename=\"\"\r\nContent-Type: \
             a/b\r\n\r\n\r\n--B\r\nContent-Disposition: form-data; name=\"z\"\r\n\r\n\r\n--B--\r\n"
        );
        assert_eq!(payload.len(), text(&payload).len() as u64);
    }

    #[test]
    fn browsers_quote_by_percent() {
        let mut form = Multipart::new("B", Quoting::Percent);
        form.short_part(&file("é\"\\", "a\r\n\"b", "x"), b"");
        let expected = "--B\r\nContent-Disposition: form-data; name=\"é%22\\\"; filename=\"a%0D%0A%22b\"\r\n\
                        Content-Type: x\r\n\r\n\r\n--B--\r\n";
        assert_eq!(text(&form.finish()), expected);
    }

    #[test]
    fn a_form_may_be_empty() {
        assert_eq!(text(&Multipart::new("B", Quoting::Percent).finish()), "--B--\r\n");
    }

    #[test]
    fn types_that_would_begin_another_line_are_refused() {
        let problem = "found a line break (\\r) at byte 6, expected text that fits into one line of a request head";
        let expected = format!("the content type \"text/x\\r\\nEvil: 1\": {problem}");
        assert_eq!(type_problem(b"text/x\r\nEvil: 1"), Some(expected));
        assert_eq!(type_problem(b"text/x; charset=\xe9"), None);
    }

    #[test]
    fn boundaries_differ_and_have_their_shape() {
        for (make, len) in [(boundary as fn() -> String, 70), (go_boundary, 60)] {
            let (a, b) = (make(), make());
            assert_eq!(a.len(), len);
            assert!(is_boundary(&a));
            assert_ne!(a, b);
        }
        assert!(go_boundary().bytes().all(|byte| byte.is_ascii_hexdigit()));
        for wrong in ["", "a b", "a\r\nb", "é", &"x".repeat(71)] {
            assert!(!is_boundary(wrong), "{wrong}");
        }
    }
}
