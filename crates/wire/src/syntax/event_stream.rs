//! The format of server-sent events (WHATWG HTML, 9.2.6): bytes in, events out.
//!
//! Lines end with LF, CR or CRLF; bytes may be cut anywhere. A byte order mark at the start is skipped, bytes that are
//! no UTF-8 become U+FFFD. An event without a data line is none, as in browsers; a comment before an event is told with
//! it. Invariant: what is kept of an unfinished event is never larger than the limit.

use std::fmt;

/// Bytes of an event at most, fields and comments together.
const MOST: usize = 16 << 20;
/// What a text file in UTF-8 may begin with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// The `event` field; empty where there was none.
    pub name: String,
    /// The data lines, joined by line feeds.
    pub data: String,
    /// The `id` field of this event; empty where there was none.
    pub id: String,
    /// The last comment before its end.
    pub comment: String,
}

/// An event is larger than what is kept of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event of the stream is larger than {} MiB, expected an empty line before", MOST >> 20)
    }
}

/// Reads a stream of events.
#[derive(Debug, Default)]
pub struct EventReader {
    has_begun: bool,
    /// A line whose end has not come.
    line: Vec<u8>,
    /// The line before ended with CR: an LF that follows belongs to it.
    after_return: bool,
    event: ServerEvent,
    has_data: bool,
    size: usize,
    last_id: String,
    retry_ms: Option<u64>,
}

impl EventReader {
    /// Takes the next bytes and gives each event that they complete to `found`.
    pub fn feed(&mut self, mut bytes: &[u8], mut found: impl FnMut(ServerEvent)) -> Result<(), TooLarge> {
        while let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, end) = (&bytes[..at], bytes[at]);
            bytes = &bytes[at + 1..];
            if at == 0 && end == b'\n' && self.line.is_empty() && std::mem::take(&mut self.after_return) {
                continue;
            }
            self.after_return = end == b'\r';
            self.grow(line.len())?;
            if self.line.is_empty() {
                self.take_line(line, &mut found);
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.take_line(&whole, &mut found);
                whole.clear();
                self.line = whole;
            }
        }
        if !bytes.is_empty() {
            self.after_return = false;
            self.grow(bytes.len())?;
            self.line.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// The id of the last event that had one: what `Last-ServerEvent-ID` says when the stream is asked for again.
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// The last `retry` field, in milliseconds.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Begins another stream of the same source: what was unfinished is dropped, id and retry time stay.
    pub fn restart(&mut self) {
        let (last_id, retry_ms) = (std::mem::take(&mut self.last_id), self.retry_ms);
        *self = EventReader { last_id, retry_ms, ..EventReader::default() };
    }

    fn grow(&mut self, by: usize) -> Result<(), TooLarge> {
        self.size += by;
        if self.size > MOST { Err(TooLarge) } else { Ok(()) }
    }

    fn take_line(&mut self, line: &[u8], found: &mut impl FnMut(ServerEvent)) {
        let line = match self.has_begun {
            true => line,
            false => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
        };
        self.has_begun = true;
        if line.is_empty() {
            self.dispatch(found);
            return;
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match &line[..colon] {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&value);
            }
            b"event" => self.event.name = value.into_owned(),
            b"id" if !value.contains('\0') => {
                self.event.id = value.into_owned();
                self.last_id.clone_from(&self.event.id);
            }
            b"retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry_ms = value.parse().ok();
            }
            b"" => self.event.comment = value.into_owned(),
            _ => {}
        }
    }

    fn dispatch(&mut self, found: &mut impl FnMut(ServerEvent)) {
        self.size = 0;
        let has_data = std::mem::take(&mut self.has_data);
        let mut event = std::mem::take(&mut self.event);
        if has_data {
            found(event);
        } else {
            // A comment alone keeps a connection awake; the next event shows it.
            self.event.comment = std::mem::take(&mut event.comment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> (Vec<ServerEvent>, EventReader) {
        let (mut reader, mut events) = (EventReader::default(), Vec::new());
        for piece in pieces {
            reader.feed(piece, |event| events.push(event)).unwrap();
        }
        (events, reader)
    }

    fn event(name: &str, data: &str, id: &str, comment: &str) -> ServerEvent {
        ServerEvent { name: name.into(), data: data.into(), id: id.into(), comment: comment.into() }
    }

    #[test]
    fn fields_make_events_whatever_ends_the_lines() {
        let stream = "\u{feff}: hello\nid: 7\nevent: ping\ndata: a\ndata:b\ndata\ndata:  c\nnoise\nother: x\n\n\
                      data:\n\nevent: lost\n\nid\ndata: last\nretry: 250\n\ndata: never ended\n";
        let expected = [event("ping", "a\nb\n\n c", "7", "hello"), event("", "", "", ""), event("", "last", "", "")];
        for ends in ["\n", "\r", "\r\n"] {
            let text = stream.replace('\n', ends);
            let (events, reader) = read(&[text.as_bytes()]);
            assert_eq!(events, expected, "{ends:?}");
            assert_eq!((reader.last_id(), reader.retry_ms()), ("", Some(250)));
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(&bytes).0, expected, "{ends:?}, byte by byte");
        }
    }

    #[test]
    fn a_line_feed_of_its_own_is_no_part_of_a_return_before_it() {
        assert_eq!(
            read(&[b"data: a\r", b"\n\r", b"\ndata: b\n\r\n"]).0,
            [event("", "a", "", ""), event("", "b", "", "")]
        );
        assert_eq!(read(&[b"data: a\rdata: b\n\ndata: c\n\n"]).0, [event("", "a\nb", "", ""), event("", "c", "", "")]);
    }

    #[test]
    fn ids_and_times_that_cannot_be_ones_are_ignored() {
        let (events, reader) = read(&[b"id: 5\ndata: a\n\nid: 1\x002\nretry: 1s\nretry:\ndata: \xff\n\n"]);
        assert_eq!(events, [event("", "a", "5", ""), event("", "\u{fffd}", "", "")]);
        assert_eq!((reader.last_id(), reader.retry_ms()), ("5", None));
    }

    #[test]
    fn comments_alone_are_no_event_and_are_told_with_the_next() {
        assert_eq!(
            read(&[b": awake\n\n:awake 2\n\ndata: a\n\ndata: b\n\n"]).0,
            [event("", "a", "", "awake 2"), event("", "b", "", ""),]
        );
    }

    #[test]
    fn a_new_stream_of_the_source_keeps_its_id() {
        let (_, mut reader) = read(&[b"id: 9\nretry: 10\ndata: a\n\ndata: half"]);
        reader.restart();
        let mut events = Vec::new();
        reader.feed("\u{feff}data: b\n\n".as_bytes(), |event| events.push(event)).unwrap();
        assert_eq!(events, [event("", "b", "", "")]);
        assert_eq!((reader.last_id(), reader.retry_ms()), ("9", Some(10)));
    }

    #[test]
    fn an_event_has_a_largest_size() {
        let (mut reader, line) = (EventReader::default(), vec![b'x'; 1 << 20]);
        for _ in 0..16 {
            reader.feed(&line, |_| panic!("no event has ended")).unwrap();
        }
        let error = reader.feed(b"x", |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "an event of the stream is larger than 16 MiB, expected an empty line before");
    }
}
