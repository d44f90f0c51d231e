//! Finds the end of a body in bytes that arrive in any pieces: by its length, by chunked coding, by the end of the
//! connection.
//!
//! The decoder keeps no data: each call says how many bytes it took and which of them are data. Both roles decode here
//! and differ in what they forgive (RFC 9112 7.1). A client takes what Go's does: line feeds alone, anything as an
//! extension; trailers are passed over, 64 KiB at most. A server refuses what another reader could take differently,
//! and keeps trailers, 16 KiB at most. A size line has at most 4 KiB. Invariant: `take` never consumes a byte behind
//! the body's end.

use std::fmt;
use std::ops::Range;

use super::framing::BodyFraming;
use crate::Role;
use crate::syntax::field::is_token;

/// Bytes of one chunk size line.
const MAX_SIZE_LINE: u32 = 4 << 10;
/// Bytes of all trailers, as a client passes over them.
const MAX_PASSED_TRAILERS: u32 = 64 << 10;
/// Bytes of all trailers, as a server keeps them.
const MAX_KEPT_TRAILERS: u32 = 16 << 10;
/// Hexadecimal digits of a chunk's size.
const MAX_DIGITS: u32 = 16;

/// Where in the body the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    Length(u64),
    UntilClose,
    Size {
        value: u64,
        digits: u32,
    },
    /// Whitespace behind a size: an extension must follow.
    SizeSpace,
    Extension,
    SizeLf,
    Chunk(u64),
    ChunkCr,
    ChunkLf,
    /// At the start of a trailer line.
    Trailer,
    TrailerText,
    TrailerLf,
    LastLf,
    Done,
}

/// The state of one body.
#[derive(Debug)]
pub struct BodyDecoder {
    state: BodyState,
    role: Role,
    /// Bytes of the size line, or of all trailers.
    line: u32,
    size: u64,
    /// Whole lines, each ended by a line feed alone, and the one that is being read; kept by servers.
    trailers: Vec<u8>,
}

/// What one call took from its input.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    /// Bytes used up.
    pub consumed: usize,
    /// Which of them are body data.
    pub data: Range<usize>,
    /// The body ended with them.
    pub done: bool,
}

/// A body that breaks the chunked coding; the connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkError {
    /// A byte in a size that is no hexadecimal digit, or no size at all.
    Size,
    /// A size of more than 16 digits.
    SizeTooLarge,
    /// A size line of more than 4 KiB.
    SizeLineTooLong,
    /// A size line continues behind what may stand there.
    SizeLine,
    /// A chunk does not end where its size says.
    ChunkEnd,
    /// An invalid trailer line.
    Trailer,
    /// More trailers than are read.
    TrailersTooLong(u32),
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChunkError::Size => f.write_str("invalid byte in chunk length"),
            ChunkError::SizeTooLarge => f.write_str("http chunk length too large"),
            ChunkError::SizeLineTooLong => write!(f, "chunk size line longer than {MAX_SIZE_LINE} bytes"),
            ChunkError::SizeLine => f.write_str("malformed chunk size line"),
            ChunkError::ChunkEnd => f.write_str("malformed chunked encoding: chunk longer than its size"),
            ChunkError::Trailer => f.write_str("malformed trailer"),
            ChunkError::TrailersTooLong(most) => write!(f, "trailers longer than {most} bytes"),
        }
    }
}

impl BodyDecoder {
    /// For the body that a head announced, read by this role.
    pub fn new(role: Role, framing: BodyFraming) -> Self {
        let state = match framing {
            BodyFraming::None | BodyFraming::Length(0) => BodyState::Done,
            BodyFraming::Length(length) => BodyState::Length(length),
            BodyFraming::Chunked => BodyState::Size { value: 0, digits: 0 },
            BodyFraming::UntilClose => BodyState::UntilClose,
        };
        BodyDecoder { state, role, line: 0, size: 0, trailers: Vec::new() }
    }

    /// The end was reached.
    pub fn is_done(&self) -> bool {
        self.state == BodyState::Done
    }

    /// Whether the peer may end the connection here.
    pub fn may_end(&self) -> bool {
        self.state == BodyState::UntilClose
    }

    /// Data that follows without framing in between: of the whole body, or of the chunk. `None` within framing.
    pub fn run_left(&self) -> Option<u64> {
        match self.state {
            BodyState::Length(left) | BodyState::Chunk(left) => Some(left),
            _ => None,
        }
    }

    /// It has a length, and no framing.
    pub fn is_plain(&self) -> bool {
        matches!(self.state, BodyState::Length(_))
    }

    /// The size of the chunk read last, in bytes.
    pub fn last_chunk(&self) -> u64 {
        self.size
    }

    /// Bytes of data until the end; `None` as long as chunks or the connection tell it.
    pub fn length_left(&self) -> Option<u64> {
        match self.state {
            BodyState::Length(left) => Some(left),
            BodyState::Done => Some(0),
            _ => None,
        }
    }

    /// Name and value of each trailer line; none before the end.
    pub fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        let lines = if self.is_done() { &self.trailers[..] } else { &[] };
        lines.split(|b| *b == b'\n').filter_map(trailer).collect()
    }

    /// Counts data that was dropped before anybody saw it; whether the body has ended. Only of a body of known length,
    /// and no more than is missing.
    pub fn skip(&mut self, bytes: u64) -> bool {
        let BodyState::Length(left) = self.state else { unreachable!("only a body of known length is skipped") };
        debug_assert!(bytes <= left, "no more is dropped than is missing: {bytes} of {left}");
        self.state = if left == bytes { BodyState::Done } else { BodyState::Length(left - bytes) };
        self.is_done()
    }

    /// Takes framing bytes and then at most one run of data from `input`; call again while it consumes and is not done.
    pub fn take(&mut self, input: &[u8]) -> Result<Taken, ChunkError> {
        let mut at = 0;
        while at < input.len() {
            match self.state {
                BodyState::Length(left) | BodyState::Chunk(left) => return Ok(self.take_data(at, input.len(), left)),
                BodyState::UntilClose => {
                    return Ok(Taken { consumed: input.len(), data: at..input.len(), done: false });
                }
                BodyState::Done => break,
                _ => self.state = self.step(input[at])?,
            }
            at += 1;
        }
        Ok(Taken { consumed: at, data: at..at, done: self.is_done() })
    }

    /// Takes all that belongs to the body from `input` and hands its data to `sink`, run by run: how many bytes that
    /// were.
    pub fn feed(&mut self, input: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, ChunkError> {
        let mut at = 0;
        while at < input.len() && !self.is_done() {
            let taken = self.take(&input[at..])?;
            debug_assert!(taken.consumed > 0, "a body that goes on takes what comes");
            debug_assert!(taken.data.end <= taken.consumed, "{taken:?}");
            if !taken.data.is_empty() {
                sink(&input[at..][taken.data]);
            }
            at += taken.consumed;
        }
        Ok(at)
    }

    fn take_data(&mut self, at: usize, end: usize, left: u64) -> Taken {
        debug_assert!(left > 0 && at < end, "a run of data that is over: {left} left, {at} of {end}");
        let room = end - at;
        let run = usize::try_from(left).map_or(room, |left| left.min(room));
        let rest = left - run as u64;
        self.state = match self.state {
            BodyState::Length(_) if rest == 0 => BodyState::Done,
            BodyState::Length(_) => BodyState::Length(rest),
            _ if rest == 0 => BodyState::ChunkCr,
            _ => BodyState::Chunk(rest),
        };
        Taken { consumed: at + run, data: at..at + run, done: self.is_done() }
    }

    /// One byte of framing.
    fn step(&mut self, byte: u8) -> Result<BodyState, ChunkError> {
        if let BodyState::Size { value, digits } = self.state {
            if let Some(digit) = (byte as char).to_digit(16) {
                return match digits < MAX_DIGITS {
                    true => Ok(BodyState::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }),
                    false => Err(ChunkError::SizeTooLarge),
                };
            }
            if digits == 0 || !matches!(byte, b'\r' | b'\n' | b';' | b' ' | b'\t') {
                return Err(ChunkError::Size);
            }
            (self.size, self.line) = (value, 0);
        }
        match self.role {
            Role::Client => self.step_forgiving(byte),
            Role::Server => self.step_strict(byte),
        }
    }

    /// Lines end with a line feed, whatever is before it.
    fn step_forgiving(&mut self, byte: u8) -> Result<BodyState, ChunkError> {
        Ok(match (self.state, byte) {
            (BodyState::Size { .. } | BodyState::Extension, b'\n') => self.sized(),
            (BodyState::Size { .. }, _) => BodyState::Extension,
            (BodyState::Extension, _) => {
                self.count_line(MAX_SIZE_LINE, ChunkError::SizeLineTooLong)?;
                BodyState::Extension
            }
            (BodyState::ChunkCr, b'\r') => BodyState::ChunkCr,
            (BodyState::ChunkCr, b'\n') => BodyState::Size { value: 0, digits: 0 },
            (BodyState::Trailer, b'\n') => BodyState::Done,
            (BodyState::Trailer, b'\r') => BodyState::Trailer,
            (BodyState::Trailer | BodyState::TrailerText, _) => {
                self.count_line(MAX_PASSED_TRAILERS, ChunkError::TrailersTooLong(MAX_PASSED_TRAILERS))?;
                if byte == b'\n' { BodyState::Trailer } else { BodyState::TrailerText }
            }
            _ => return Err(ChunkError::ChunkEnd),
        })
    }

    /// Lines end with both bytes. Whitespace behind a size is taken only in front of an extension, and a trailer is a
    /// whole line with a colon.
    fn step_strict(&mut self, byte: u8) -> Result<BodyState, ChunkError> {
        Ok(match (self.state, byte) {
            (BodyState::Size { .. } | BodyState::Extension, b'\r') => BodyState::SizeLf,
            (BodyState::Size { .. } | BodyState::SizeSpace, b';') => BodyState::Extension,
            (BodyState::Size { .. } | BodyState::SizeSpace, b' ' | b'\t') => {
                self.count_line(MAX_SIZE_LINE, ChunkError::SizeLineTooLong)?;
                BodyState::SizeSpace
            }
            (BodyState::Extension, _) if is_text(byte) => {
                self.count_line(MAX_SIZE_LINE, ChunkError::SizeLineTooLong)?;
                BodyState::Extension
            }
            (BodyState::SizeLf, b'\n') => self.sized(),
            (BodyState::ChunkCr, b'\r') => BodyState::ChunkLf,
            (BodyState::ChunkLf, b'\n') => BodyState::Size { value: 0, digits: 0 },
            (BodyState::Trailer, b'\r') => BodyState::LastLf,
            (BodyState::TrailerText, b'\r') => BodyState::TrailerLf,
            (BodyState::Trailer | BodyState::TrailerText, _) if is_text(byte) => {
                self.count_line(MAX_KEPT_TRAILERS, ChunkError::TrailersTooLong(MAX_KEPT_TRAILERS))?;
                self.trailers.push(byte);
                BodyState::TrailerText
            }
            (BodyState::TrailerLf, b'\n') => self.trailer_line()?,
            (BodyState::LastLf, b'\n') => BodyState::Done,
            (BodyState::ChunkCr | BodyState::ChunkLf, _) => return Err(ChunkError::ChunkEnd),
            (BodyState::Trailer | BodyState::TrailerText | BodyState::TrailerLf | BodyState::LastLf, _) => {
                return Err(ChunkError::Trailer);
            }
            _ => return Err(ChunkError::SizeLine),
        })
    }

    fn count_line(&mut self, most: u32, error: ChunkError) -> Result<(), ChunkError> {
        self.line += 1;
        if self.line > most { Err(error) } else { Ok(()) }
    }

    fn trailer_line(&mut self) -> Result<BodyState, ChunkError> {
        let line = self.trailers.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        trailer(line).ok_or(ChunkError::Trailer)?;
        self.count_line(MAX_KEPT_TRAILERS, ChunkError::TrailersTooLong(MAX_KEPT_TRAILERS))?;
        self.trailers.push(b'\n');
        Ok(BodyState::Trailer)
    }

    /// A size line has ended.
    fn sized(&mut self) -> BodyState {
        self.line = 0;
        if self.size == 0 { BodyState::Trailer } else { BodyState::Chunk(self.size) }
    }
}

/// A byte a line may have.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// Name and value of a line.
fn trailer(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|b| *b == b':')?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let fits = is_token(name);
    fits.then(|| (String::from_utf8_lossy(name).into_owned(), value.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `step` bytes; the data, how much was used, and whether it ended.
    fn feed(role: Role, framing: BodyFraming, input: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), ChunkError> {
        let mut decoder = BodyDecoder::new(role, framing);
        let (mut data, mut used) = (Vec::new(), 0);
        for piece in input.chunks(step) {
            used += decoder.feed(piece, |run| data.extend_from_slice(run))?;
        }
        Ok((data, used, decoder.is_done()))
    }

    #[test]
    fn finds_the_end_however_the_bytes_arrive() {
        let chunked = b"5;a=b\r\nhello\r\n1 ;x\r\n,\r\nA\r\n0123456789\r\n0\r\nX: y\r\nZ: w\r\n\r\nGET /";
        for role in [Role::Client, Role::Server] {
            for step in 1..chunked.len() + 1 {
                let want = (b"hello,0123456789".to_vec(), chunked.len() - 5, true);
                assert_eq!(feed(role, BodyFraming::Chunked, chunked, step), Ok(want), "step {step}");
                let want = (b"5;a=".to_vec(), 4, true);
                assert_eq!(feed(role, BodyFraming::Length(4), chunked, step), Ok(want), "step {step}");
                let want = (chunked.to_vec(), chunked.len(), false);
                assert_eq!(feed(role, BodyFraming::UntilClose, chunked, step), Ok(want), "step {step}");
            }
            for none in [BodyFraming::None, BodyFraming::Length(0)] {
                assert_eq!(feed(role, none, b"GET", 1), Ok((Vec::new(), 0, true)));
            }
            assert_eq!(feed(role, BodyFraming::Chunked, b"5\r\nhel", 2), Ok((b"hel".to_vec(), 6, false)));
            let sizes = b"0a\r\n0123456789\r\nAb\r\n";
            assert_eq!(feed(role, BodyFraming::Chunked, sizes, 9), Ok((b"0123456789".to_vec(), sizes.len(), false)));
        }
    }

    #[test]
    fn a_client_takes_what_go_takes() {
        for forgiven in [
            "5\nhello\n0\n\n",
            "5 \r\nhello\r\n0\r\n\r\n",
            "5\rx\nhello\r\r\n0;\x01\r\nno colon\r\n\r\r\n",
            "000\r\n\r\n",
            "5 x;y\t\r\nhello\r\n0\r\n : \r\n\r\n",
        ] {
            for step in 1..forgiven.len() {
                let (data, used, done) = feed(Role::Client, BodyFraming::Chunked, forgiven.as_bytes(), step).unwrap();
                assert_eq!((used, done), (forgiven.len(), true), "{forgiven:?} in steps of {step}");
                assert_eq!(data.len(), if forgiven.starts_with('5') { 5 } else { 0 });
            }
            if !forgiven.starts_with("000") {
                assert!(feed(Role::Server, BodyFraming::Chunked, forgiven.as_bytes(), 7).is_err(), "{forgiven:?}");
            }
        }
    }

    #[test]
    fn broken_chunks_are_named() {
        let table = [
            ("xyz\r\n", ChunkError::Size, ChunkError::Size),
            ("\r\n", ChunkError::Size, ChunkError::Size),
            (";\r\n", ChunkError::Size, ChunkError::Size),
            ("\n", ChunkError::Size, ChunkError::Size),
            (" 1\r\n", ChunkError::Size, ChunkError::Size),
            ("-1\r\n", ChunkError::Size, ChunkError::Size),
            ("1g\r\n", ChunkError::Size, ChunkError::Size),
            ("11112222333344445\r\n", ChunkError::SizeTooLarge, ChunkError::SizeTooLarge),
            ("00000000000000001\r\n", ChunkError::SizeTooLarge, ChunkError::SizeTooLarge),
            ("2\r\nabc\r\n", ChunkError::ChunkEnd, ChunkError::ChunkEnd),
            ("1\r\na\rb", ChunkError::ChunkEnd, ChunkError::ChunkEnd),
        ];
        for (input, client, server) in table {
            for (role, error) in [(Role::Client, client), (Role::Server, server)] {
                assert_eq!(feed(role, BodyFraming::Chunked, input.as_bytes(), 7), Err(error), "{input:?}");
            }
        }
        for (input, error) in [
            ("1\n", ChunkError::SizeLine),
            ("1 \r\na", ChunkError::SizeLine),
            ("1 x;\r\na", ChunkError::SizeLine),
            ("1;\0\r\na", ChunkError::SizeLine),
            ("1;\x7f\r\na", ChunkError::SizeLine),
            ("1\rx", ChunkError::SizeLine),
            ("0\r\nA\r\n\r\n", ChunkError::Trailer),
            ("0\r\n A: b\r\n\r\n", ChunkError::Trailer),
            ("0\r\nA : b\r\n\r\n", ChunkError::Trailer),
            ("0\r\nA: \x01\r\n\r\n", ChunkError::Trailer),
            ("0\r\nA: b\n\r\n", ChunkError::Trailer),
            ("0\r\n\rx", ChunkError::Trailer),
        ] {
            assert_eq!(feed(Role::Server, BodyFraming::Chunked, input.as_bytes(), 7), Err(error), "{input:?}");
        }
    }

    #[test]
    fn lines_are_bounded_to_the_byte() {
        assert_eq!((MAX_SIZE_LINE, MAX_KEPT_TRAILERS, MAX_PASSED_TRAILERS), (4096, 16_384, 65_536));
        let refused = |role, body: String| feed(role, BodyFraming::Chunked, body.as_bytes(), 1000).err();
        let size_line = |n: u32| format!("1;{}\r\na", "x".repeat(n as usize));
        let space = |n: u32| format!("1{};\r\na", " ".repeat(n as usize));
        let trailers = |n: u32| format!("0\r\n{}", "A: b\r\n".repeat(n as usize));
        assert_eq!(refused(Role::Server, size_line(MAX_SIZE_LINE)), None);
        assert_eq!(refused(Role::Server, size_line(MAX_SIZE_LINE + 1)), Some(ChunkError::SizeLineTooLong));
        assert_eq!(refused(Role::Server, space(MAX_SIZE_LINE)), None);
        assert_eq!(refused(Role::Server, space(MAX_SIZE_LINE + 1)), Some(ChunkError::SizeLineTooLong));
        // The carriage return is one of the line's bytes here.
        assert_eq!(refused(Role::Client, size_line(MAX_SIZE_LINE - 1)), None);
        assert_eq!(refused(Role::Client, size_line(MAX_SIZE_LINE)), Some(ChunkError::SizeLineTooLong));
        let too_long = |most| Some(ChunkError::TrailersTooLong(most));
        assert_eq!(refused(Role::Server, trailers(MAX_KEPT_TRAILERS / 5)), None);
        assert_eq!(refused(Role::Server, trailers(MAX_KEPT_TRAILERS / 5 + 1)), too_long(MAX_KEPT_TRAILERS));
        assert_eq!(refused(Role::Client, trailers(MAX_PASSED_TRAILERS / 6)), None);
        assert_eq!(refused(Role::Client, trailers(MAX_PASSED_TRAILERS / 6 + 1)), too_long(MAX_PASSED_TRAILERS));
    }

    #[test]
    fn errors_are_said_in_words() {
        for (error, text) in [
            (ChunkError::Size, "invalid byte in chunk length"),
            (ChunkError::SizeTooLarge, "http chunk length too large"),
            (ChunkError::SizeLineTooLong, "chunk size line longer than 4096 bytes"),
            (ChunkError::SizeLine, "malformed chunk size line"),
            (ChunkError::ChunkEnd, "malformed chunked encoding: chunk longer than its size"),
            (ChunkError::Trailer, "malformed trailer"),
            (ChunkError::TrailersTooLong(7), "trailers longer than 7 bytes"),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn a_server_keeps_trailers() {
        let body = b"1\r\na\r\n0\r\nDigest: x:y \r\nEmpty:\r\n\r\n";
        for (role, kept) in [(Role::Server, true), (Role::Client, false)] {
            let mut decoder = BodyDecoder::new(role, BodyFraming::Chunked);
            let mut at = 0;
            while !decoder.is_done() {
                assert!(decoder.trailers().is_empty());
                at += decoder.take(&body[at..at + 1]).unwrap().consumed;
            }
            let want = [("Digest".to_owned(), b"x:y".to_vec()), ("Empty".to_owned(), Vec::new())];
            let want = if kept { want.to_vec() } else { Vec::new() };
            assert_eq!((decoder.trailers(), at), (want, body.len()));
        }
    }

    #[test]
    fn what_is_left_is_known_where_it_can_be() {
        let mut decoder = BodyDecoder::new(Role::Server, BodyFraming::Chunked);
        assert_eq!((decoder.run_left(), decoder.length_left(), decoder.is_plain()), (None, None, false));
        decoder.take(b"10\r\nabc").unwrap();
        assert_eq!((decoder.run_left(), decoder.length_left(), decoder.last_chunk()), (Some(13), None, 16));
        let mut decoder = BodyDecoder::new(Role::Client, BodyFraming::Length(5));
        assert_eq!((decoder.run_left(), decoder.length_left(), decoder.is_plain()), (Some(5), Some(5), true));
        assert!(!decoder.skip(2) && !decoder.may_end());
        assert_eq!(decoder.take(b"ab"), Ok(Taken { consumed: 2, data: 0..2, done: false }));
        assert!(decoder.skip(1));
        assert_eq!((decoder.run_left(), decoder.length_left()), (None, Some(0)));
        assert_eq!(decoder.take(b"x"), Ok(Taken { consumed: 0, data: 0..0, done: true }));
        let until_close = BodyDecoder::new(Role::Client, BodyFraming::UntilClose);
        assert!(until_close.may_end() && until_close.length_left().is_none() && !until_close.is_done());
    }
}
