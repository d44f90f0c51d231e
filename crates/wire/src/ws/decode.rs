//! From bytes, in whatever pieces they arrive, to messages and control frames.
//!
//! The usual message, a whole frame in the input that is neither masked nor compressed, is given where it is; anything
//! else is put together in one buffer. Texts are checked as they come: the byte that cannot be UTF-8 fails the
//! connection, not the end of the message. Refuses data frames out of order, and more than the limit before it is here.
//! Invariant: after a close frame nothing more is read.

use super::close::{self, CloseReason};
use super::deflate::Inflater;
use super::extension::DeflateParams;
use super::frame::{self, Header, MAX_CONTROL, MAX_HEADER, Opcode};
use super::{Kind, Role, Violation, mask};
use crate::room::Held;
use crate::syntax::codec::DecodeLimits;

/// What a buffer may hold on to between messages: idle connections own next to nothing.
const MOST_IDLE: usize = 1024;

/// Something that arrived.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A text message.
    Text(&'a str),
    /// A binary message.
    Binary(&'a [u8]),
    /// Wants a pong with the same bytes.
    Ping(&'a [u8]),
    /// A pong, asked for or not.
    Pong(&'a [u8]),
    /// The peer closes, with a reason or without; nothing follows.
    Close(Option<CloseReason<'a>>),
}

/// Reads the frames of one connection.
#[derive(Debug)]
pub struct Decoder {
    reader: Role,
    limits: MessageLimits,
    /// Bytes on the wire of the compressed message under way.
    compressed: usize,
    inflater: Option<Inflater>,
    /// Bytes of a header that is not complete.
    header: [u8; MAX_HEADER],
    header_len: usize,
    frame: Option<Under>,
    message: Option<Message>,
    /// The data of a message whose frames are not all here.
    content: Vec<u8>,
    /// So much of a text is known to be UTF-8.
    valid: usize,
    control: [u8; MAX_CONTROL],
    control_len: usize,
    /// `content` was given out: it is emptied before the next message.
    given: bool,
    closed: bool,
}

/// How large messages may become.
#[derive(Debug)]
pub(crate) struct MessageLimits {
    /// Bytes of a message.
    pub(crate) bytes: usize,
    /// What compressed ones may become.
    pub(crate) inflated: DecodeLimits,
    /// What holds the message under way; `None`: it is on nobody's account.
    pub(crate) held: Option<Held>,
}

/// A frame whose header was read.
#[derive(Clone, Copy, Debug)]
struct Under {
    header: Header,
    /// Bytes of the payload so far.
    taken: u64,
}

/// A message of which frames have begun.
#[derive(Clone, Copy, Debug)]
struct Message {
    kind: Kind,
    compressed: bool,
}

/// A frame that completes something.
enum Done {
    Message(Kind),
    Control(Opcode),
}

impl Decoder {
    /// For one end of a connection on which `deflate` was agreed on, if anything; a message has `limit` bytes at most.
    pub fn new(reader: Role, deflate: Option<DeflateParams>, limit: usize) -> Decoder {
        let inflated = DecodeLimits { bytes: limit as u64, ratio: u64::MAX };
        Decoder::within(reader, deflate, MessageLimits { bytes: limit, inflated, held: None })
    }

    /// The same with limits of a client.
    pub(crate) fn within(reader: Role, deflate: Option<DeflateParams>, limits: MessageLimits) -> Decoder {
        let inflater = deflate.map(|params| match reader {
            Role::Client => Inflater::new(params.server_max_window_bits, !params.server_no_context_takeover),
            Role::Server => Inflater::new(params.client_max_window_bits, !params.client_no_context_takeover),
        });
        Decoder {
            reader,
            limits,
            compressed: 0,
            inflater,
            header: [0; MAX_HEADER],
            header_len: 0,
            frame: None,
            message: None,
            content: Vec::new(),
            valid: 0,
            control: [0; MAX_CONTROL],
            control_len: 0,
            given: false,
            closed: false,
        }
    }

    /// Takes bytes from the front of `input` up to the end of the next message or control frame; `None` when more are
    /// needed. After an error, do not read on.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>, Violation> {
        self.forget_given();
        loop {
            if self.closed {
                *input = &[];
                return Ok(None);
            }
            if self.frame.is_none() {
                let Some(header) = self.take_header(input)? else { return Ok(None) };
                self.check(&header)?;
                if let Some(kind) = self.is_plain(&header, input) {
                    let (payload, rest) = input.split_at(header.len as usize);
                    *input = rest;
                    return Ok(Some(event(kind, payload)?));
                }
                self.begin(header);
            }
            if !self.take_payload(input)? {
                return Ok(None);
            }
            match self.end_frame()? {
                None => {}
                Some(Done::Message(kind)) => {
                    self.given = true;
                    return Ok(Some(event(kind, &self.content)?));
                }
                Some(Done::Control(opcode)) => return self.control_event(opcode).map(Some),
            }
        }
    }

    fn forget_given(&mut self) {
        if self.given {
            self.given = false;
            self.valid = 0;
            self.compressed = 0;
            if let Some(held) = &mut self.limits.held {
                held.clear();
            }
            self.content.clear();
            if self.content.capacity() > MOST_IDLE {
                self.content = Vec::new();
            }
        }
    }

    fn take_header(&mut self, input: &mut &[u8]) -> Result<Option<Header>, Violation> {
        let may_compress = self.inflater.is_some();
        if self.header_len == 0 {
            let header = frame::parse(input, self.reader, may_compress)?;
            if let Some(header) = header {
                *input = &input[header.size..];
                return Ok(Some(header));
            }
        }
        let before = self.header_len;
        let more = input.len().min(MAX_HEADER - before);
        self.header[before..before + more].copy_from_slice(&input[..more]);
        let known = before + more;
        let Some(header) = frame::parse(&self.header[..known], self.reader, may_compress)? else {
            self.header_len = known;
            *input = &input[more..];
            return Ok(None);
        };
        self.header_len = 0;
        *input = &input[header.size - before..];
        Ok(Some(header))
    }

    /// Whether the frame may come now, and its message is not too large.
    fn check(&self, header: &Header) -> Result<(), Violation> {
        match (header.opcode, self.message) {
            (Opcode::Continuation, None) => return Err(Violation::protocol("a continuation has nothing to continue")),
            (Opcode::Text | Opcode::Binary, Some(_)) => {
                return Err(Violation::protocol("a message begins before the last one has ended"));
            }
            _ => {}
        }
        // What is compressed grows: it is measured as it comes out, but is never larger than its own limit either.
        let before = if header.opcode == Opcode::Continuation { self.content.len() } else { 0 };
        if header.len > (self.limits.bytes - before.min(self.limits.bytes)) as u64 && !header.opcode.is_control() {
            return Err(Violation::too_big());
        }
        Ok(())
    }

    /// A message of one frame that is in the input as it is.
    fn is_plain(&self, header: &Header, input: &[u8]) -> Option<Kind> {
        let kind = match header.opcode {
            Opcode::Text => Kind::Text,
            Opcode::Binary => Kind::Binary,
            _ => return None,
        };
        let plain = header.fin && !header.compressed && header.key.is_none() && header.len <= input.len() as u64;
        plain.then_some(kind)
    }

    fn begin(&mut self, header: Header) {
        debug_assert!(self.frame.is_none(), "a frame begins when the one before has ended");
        self.frame = Some(Under { header, taken: 0 });
        let compressed = header.compressed;
        match header.opcode {
            Opcode::Text => self.message = Some(Message { kind: Kind::Text, compressed }),
            Opcode::Binary => self.message = Some(Message { kind: Kind::Binary, compressed }),
            Opcode::Continuation => {}
            _ => self.control_len = 0,
        }
    }

    /// Takes what the input has of the frame's payload; true when that is the whole of it.
    fn take_payload(&mut self, input: &mut &[u8]) -> Result<bool, Violation> {
        let Under { header, taken } = self.frame.expect("a frame is under way");
        let n = usize::try_from(header.len - taken).map_or(input.len(), |left| left.min(input.len()));
        let (piece, rest) = input.split_at(n);
        *input = rest;
        let offset = (taken % 4) as usize;
        self.frame = Some(Under { header, taken: taken + n as u64 });
        if header.opcode.is_control() {
            let into = &mut self.control[self.control_len..self.control_len + n];
            into.copy_from_slice(piece);
            if let Some(key) = header.key {
                mask::apply(into, key, offset);
            }
            self.control_len += n;
        } else {
            self.take_data(piece, header.key, offset)?;
        }
        Ok(taken + n as u64 == header.len)
    }

    fn take_data(&mut self, piece: &[u8], key: Option<[u8; 4]>, offset: usize) -> Result<(), Violation> {
        let message = self.message.expect("a data frame belongs to a message");
        let before = self.content.len();
        self.compressed += if message.compressed { piece.len() } else { 0 };
        let limit = self.inflated_limit();
        match (message.compressed, key) {
            (false, None) => self.content.extend_from_slice(piece),
            (false, Some(key)) => mask::append(&mut self.content, piece, key, offset),
            (true, key) => {
                let inflater = self.inflater.as_mut().expect("a compressed frame was refused without it");
                let inflated = match key {
                    None => inflater.push(piece, &mut self.content, limit),
                    Some(key) => inflate_masked(inflater, piece, key, offset, &mut self.content, limit),
                };
                // The connection continues for its close, without what a bomb has left.
                inflated.inspect_err(|_| self.content = Vec::new())?;
            }
        }
        self.hold(self.content.len() - before)?;
        self.check_text(message.kind)
    }

    /// Bytes that the compressed message under way may become.
    fn inflated_limit(&self) -> usize {
        let most = self.limits.inflated.most(self.compressed).min(self.limits.bytes as u64);
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Counts bytes that `content` has more.
    fn hold(&mut self, more: usize) -> Result<(), Violation> {
        let Some(held) = &mut self.limits.held else { return Ok(()) };
        held.grow(more).map_err(|_| {
            self.content = Vec::new();
            Violation::no_room()
        })
    }

    /// Checks what was added to a text, up to a character whose end is not here.
    fn check_text(&mut self, kind: Kind) -> Result<(), Violation> {
        if kind == Kind::Text {
            match std::str::from_utf8(&self.content[self.valid..]) {
                Ok(text) => self.valid += text.len(),
                Err(error) if error.error_len().is_none() => self.valid += error.valid_up_to(),
                Err(_) => return Err(Violation::not_utf8()),
            }
        }
        Ok(())
    }

    /// The frame under way is complete.
    fn end_frame(&mut self) -> Result<Option<Done>, Violation> {
        let Under { header, taken } = self.frame.take().expect("a frame is under way");
        debug_assert_eq!(taken, header.len, "a frame ends with its last byte");
        if header.opcode.is_control() {
            return Ok(Some(Done::Control(header.opcode)));
        }
        if !header.fin {
            return Ok(None);
        }
        let message = self.message.take().expect("a data frame belongs to a message");
        if message.compressed {
            let limit = self.inflated_limit();
            let inflater = self.inflater.as_mut().expect("a compressed frame was refused without it");
            inflater.finish(&mut self.content, limit)?;
            self.check_text(message.kind)?;
        }
        Ok(Some(Done::Message(message.kind)))
    }

    fn control_event(&mut self, opcode: Opcode) -> Result<Event<'_>, Violation> {
        let payload = &self.control[..self.control_len];
        Ok(match opcode {
            Opcode::Ping => Event::Ping(payload),
            Opcode::Pong => Event::Pong(payload),
            _ => {
                self.closed = true;
                Event::Close(close::parse(payload)?)
            }
        })
    }
}

fn event(kind: Kind, payload: &[u8]) -> Result<Event<'_>, Violation> {
    Ok(match kind {
        Kind::Text => Event::Text(std::str::from_utf8(payload).map_err(|_| Violation::not_utf8())?),
        Kind::Binary => Event::Binary(payload),
    })
}

/// Unmasks piece by piece on the stack: compressed bytes are not kept.
fn inflate_masked(
    inflater: &mut Inflater,
    piece: &[u8],
    key: [u8; 4],
    offset: usize,
    out: &mut Vec<u8>,
    limit: usize,
) -> Result<(), Violation> {
    let mut room = [0; 4096];
    for part in piece.chunks(room.len()) {
        let plain = &mut room[..part.len()];
        plain.copy_from_slice(part);
        // The room is a multiple of the key's length: each part begins where the first one did.
        mask::apply(plain, key, offset);
        inflater.push(plain, out, limit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Encoder;
    use super::*;

    /// Everything a decoder makes of the bytes, given in pieces of `step`.
    fn read(decoder: &mut Decoder, bytes: &[u8], step: usize) -> Result<Vec<String>, (Vec<String>, u16)> {
        let mut seen = Vec::new();
        for mut piece in bytes.chunks(step) {
            loop {
                match decoder.next(&mut piece) {
                    Ok(Some(event)) => seen.push(format!("{event:?}")),
                    Ok(None) => break,
                    Err(violation) => return Err((seen, violation.code)),
                }
            }
            assert!(piece.is_empty());
        }
        Ok(seen)
    }

    fn client(limit: usize) -> Decoder {
        Decoder::new(Role::Client, None, limit)
    }

    #[test]
    fn fragments_with_control_frames_between() {
        let bytes = b"\x01\x03Hel\x89\x01p\x00\x00\x80\x02lo\x82\x02\x00\xff\x8a\x00\x88\x05\x03\xe8bye\x81\x01x";
        let expected = [
            "Ping([112])",
            "Text(\"Hello\")",
            "Binary([0, 255])",
            "Pong([])",
            "Close(Some(CloseReason { code: 1000, reason: \"bye\" }))",
        ];
        for step in 1..=bytes.len() {
            assert_eq!(read(&mut client(100), bytes, step).unwrap(), expected, "in pieces of {step}");
        }
    }

    #[test]
    fn what_a_client_encodes_a_server_reads() {
        let params = DeflateParams::default();
        let alone = DeflateParams { client_no_context_takeover: true, client_max_window_bits: 9, ..params };
        let texts = ["", "a", "\u{1f600} text \u{e9}", &"long ".repeat(3000)];
        for deflate in [None, Some(params), Some(alone)] {
            for step in [1, 2, 3, 7, 4096, 1 << 20] {
                let mut encoder = Encoder::new(Role::Client, deflate);
                let mut decoder = Decoder::new(Role::Server, deflate, 1 << 20);
                let mut bytes = Vec::new();
                texts.iter().for_each(|text| encoder.message(&mut bytes, Kind::Text, text.as_bytes()));
                encoder.close(&mut bytes, None);
                let mut expected: Vec<_> = texts.iter().map(|text| format!("{:?}", Event::Text(text))).collect();
                expected.push("Close(None)".into());
                assert_eq!(read(&mut decoder, &bytes, step).unwrap(), expected, "{deflate:?} in pieces of {step}");
            }
        }
    }

    /// The usual message costs no copy; one that is not all here does.
    #[test]
    fn a_whole_message_is_given_where_it_is() {
        let bytes = b"\x82\x03abc\x81\x02hi\x02\x01a\x80\x01b";
        let (mut decoder, mut input) = (client(100), &bytes[..]);
        let Ok(Some(Event::Binary(whole))) = decoder.next(&mut input) else { panic!("a binary message") };
        assert_eq!(whole.as_ptr(), bytes[2..].as_ptr());
        let Ok(Some(Event::Text(whole))) = decoder.next(&mut input) else { panic!("a text") };
        assert_eq!(whole.as_ptr(), bytes[7..].as_ptr());
        let Ok(Some(Event::Binary(parts))) = decoder.next(&mut input) else { panic!("a message of two frames") };
        assert!(!bytes.as_ptr_range().contains(&parts.as_ptr()));
    }

    #[test]
    fn texts_fail_at_the_byte_that_tells() {
        // The lead byte alone may become a character; with 0x90 behind it, it cannot any more.
        let mut decoder = client(100);
        assert_eq!(read(&mut decoder, b"\x01\x03ab\xf4", 9), Ok(vec![]));
        assert_eq!(read(&mut decoder, b"\x80\x05\x90", 9), Err((vec![], 1007)));
        assert_eq!(read(&mut client(100), b"\x01\x01\xc3\x80\x01\xa9", 1).unwrap(), ["Text(\"\u{e9}\")"]);
        for unfinished in [&b"\x81\x01\xc3"[..], b"\x01\x01\xc3\x80\x00"] {
            assert_eq!(read(&mut client(100), unfinished, 9), Err((vec![], 1007)));
        }
    }

    #[test]
    fn data_frames_out_of_order() {
        for bytes in [&b"\x80\x01x"[..], b"\x01\x01x\x81\x01y", b"\x01\x01x\x02\x01y"] {
            assert_eq!(read(&mut client(100), bytes, 99), Err((vec![], 1002)), "{bytes:02x?}");
        }
    }

    #[test]
    fn the_limit_holds_before_the_bytes_are_here() {
        assert_eq!(read(&mut client(3), b"\x82\x03abc", 9).unwrap(), ["Binary([97, 98, 99])"]);
        assert_eq!(read(&mut client(3), b"\x82\x04", 9), Err((vec![], 1009)));
        assert_eq!(read(&mut client(3), b"\x02\x02ab\x80\x02", 9), Err((vec![], 1009)));
        assert_eq!(read(&mut client(3), b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", 99), Err((vec![], 1009)));
        let deflate = Some(DeflateParams::default());
        let mut bomb = Vec::new();
        Encoder::new(Role::Server, deflate).message(&mut bomb, Kind::Binary, &[0; 5000]);
        assert_eq!(read(&mut Decoder::new(Role::Client, deflate, 4999), &bomb, 9), Err((vec![], 1009)));
        assert!(read(&mut Decoder::new(Role::Client, deflate, 5000), &bomb, 9).is_ok());
    }

    #[test]
    fn an_idle_decoder_holds_no_large_buffer() {
        let mut bytes = Vec::new();
        Encoder::new(Role::Client, None).message(&mut bytes, Kind::Binary, &[7; 100_000]);
        let mut decoder = Decoder::new(Role::Server, None, 1 << 20);
        read(&mut decoder, &bytes, 1 << 20).unwrap();
        assert!(decoder.frame.is_none() && decoder.header_len == 0 && decoder.message.is_none());
        assert!(decoder.content.capacity() <= MOST_IDLE);
    }
}
