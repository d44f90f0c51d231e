//! Finds the end of a request body in bytes that arrive in any pieces.
//!
//! The decoder keeps no data: each call says how many bytes it took and which of them are data. Trailers are kept, at most 16 KiB
//! of them; a chunk size line may have 4 KiB of extensions. Whitespace behind a size is taken only in front of an extension, and
//! a trailer is a whole line with a colon: what another reader could take differently is refused.

use std::ops::Range;

use wire::field::is_token;

use super::head::BodyFraming;

/// Bytes of trailers, and of one chunk size line, that are accepted.
const MAX_TRAILERS: usize = 16 * 1024;
const MAX_SIZE_LINE: u32 = 4 * 1024;

/// Where in the body the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Length(u64),
    Size {
        value: u64,
        digits: u32,
    },
    /// Whitespace behind a size: an extension must follow.
    SizeSpace(u32),
    Extension(u32),
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
    state: State,
    size: u64,
    /// Whole lines, each ended by a line feed alone, and the one that is being read.
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
pub struct BadChunk;

impl BodyDecoder {
    /// For the body that a head announced.
    pub fn new(framing: BodyFraming) -> Self {
        let state = match framing {
            BodyFraming::None => State::Done,
            BodyFraming::Length(length) => State::Length(length),
            BodyFraming::Chunked => State::Size { value: 0, digits: 0 },
        };
        BodyDecoder { state, size: 0, trailers: Vec::new() }
    }

    /// The end was reached.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Data that follows without framing in between: of the whole body, or of the chunk. `None` within framing.
    pub fn run_left(&self) -> Option<u64> {
        match self.state {
            State::Length(left) | State::Chunk(left) => Some(left),
            _ => None,
        }
    }

    /// It has a length, and no framing.
    pub fn is_plain(&self) -> bool {
        matches!(self.state, State::Length(_))
    }

    /// The size of the chunk read last, in bytes.
    pub fn last_chunk(&self) -> u64 {
        self.size
    }

    /// Bytes of data until the end; `None` as long as chunks tell it.
    pub fn length_left(&self) -> Option<u64> {
        match self.state {
            State::Length(left) => Some(left),
            State::Done => Some(0),
            _ => None,
        }
    }

    /// Name and value of each trailer line; none before the end.
    pub fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        let lines = if self.is_done() { &self.trailers[..] } else { &[] };
        lines.split(|b| *b == b'\n').filter_map(trailer).collect()
    }

    /// Takes framing bytes and then at most one run of data from `input`; call again while it consumes and is not done.
    pub fn take(&mut self, input: &[u8]) -> Result<Taken, BadChunk> {
        let mut at = 0;
        while at < input.len() {
            match self.state {
                State::Length(left) | State::Chunk(left) => return Ok(self.take_data(at, input.len(), left)),
                State::Done => break,
                _ => self.state = self.step(input[at])?,
            }
            at += 1;
        }
        Ok(Taken { consumed: at, data: at..at, done: self.is_done() })
    }

    fn take_data(&mut self, at: usize, end: usize, left: u64) -> Taken {
        let room = end - at;
        let run = usize::try_from(left).map_or(room, |left| left.min(room));
        let rest = left - run as u64;
        self.state = match self.state {
            State::Length(_) if rest == 0 => State::Done,
            State::Length(_) => State::Length(rest),
            _ if rest == 0 => State::ChunkCr,
            _ => State::Chunk(rest),
        };
        Taken { consumed: at + run, data: at..at + run, done: self.is_done() }
    }

    fn step(&mut self, byte: u8) -> Result<State, BadChunk> {
        Ok(match (self.state, byte) {
            (State::Size { digits: 0, .. }, b'\r' | b';' | b' ' | b'\t') => return Err(BadChunk),
            (State::Size { value, .. }, b'\r') => self.sized(value),
            (State::Size { value, .. }, b';' | b' ' | b'\t') => {
                self.size = value;
                if byte == b';' { State::Extension(0) } else { State::SizeSpace(0) }
            }
            (State::Size { value, digits }, _) if digits < 16 => {
                let digit = (byte as char).to_digit(16).ok_or(BadChunk)?;
                State::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }
            }
            (State::SizeSpace(n), b' ' | b'\t') if n < MAX_SIZE_LINE => State::SizeSpace(n + 1),
            (State::SizeSpace(n), b';') => State::Extension(n),
            (State::Extension(_), b'\r') => State::SizeLf,
            (State::Extension(n), _) if n < MAX_SIZE_LINE && is_text(byte) => State::Extension(n + 1),
            (State::SizeLf, b'\n') if self.size == 0 => State::Trailer,
            (State::SizeLf, b'\n') => State::Chunk(self.size),
            (State::ChunkCr, b'\r') => State::ChunkLf,
            (State::ChunkLf, b'\n') => State::Size { value: 0, digits: 0 },
            (State::Trailer, b'\r') => State::LastLf,
            (State::TrailerText, b'\r') => State::TrailerLf,
            (State::Trailer | State::TrailerText, _) if self.trailers.len() < MAX_TRAILERS && is_text(byte) => {
                self.trailers.push(byte);
                State::TrailerText
            }
            (State::TrailerLf, b'\n') => self.trailer_line()?,
            (State::LastLf, b'\n') => State::Done,
            _ => return Err(BadChunk),
        })
    }

    fn trailer_line(&mut self) -> Result<State, BadChunk> {
        let line = self.trailers.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        trailer(line).ok_or(BadChunk)?;
        self.trailers.push(b'\n');
        Ok(State::Trailer)
    }

    fn sized(&mut self, value: u64) -> State {
        self.size = value;
        State::SizeLf
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

    /// Feeds `input` in pieces of `step` bytes; the data and how much was used.
    fn feed(framing: BodyFraming, input: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), BadChunk> {
        let mut decoder = BodyDecoder::new(framing);
        let (mut data, mut used) = (Vec::new(), 0);
        for piece in input.chunks(step) {
            let mut at = 0;
            while at < piece.len() && !decoder.is_done() {
                let taken = decoder.take(&piece[at..])?;
                data.extend_from_slice(&piece[at..][taken.data]);
                at += taken.consumed;
            }
            used += at;
        }
        Ok((data, used, decoder.is_done()))
    }

    #[test]
    fn finds_the_end_however_the_bytes_arrive() {
        let chunked = b"5;a=b\r\nhello\r\n1 ;x\r\n,\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET /";
        for step in 1..chunked.len() + 1 {
            let want = (b"hello,0123456789".to_vec(), chunked.len() - 5, true);
            assert_eq!(feed(BodyFraming::Chunked, chunked, step), Ok(want), "step {step}");
            let want = (b"5;a=".to_vec(), 4, true);
            assert_eq!(feed(BodyFraming::Length(4), chunked, step), Ok(want), "step {step}");
        }
        assert_eq!(feed(BodyFraming::None, b"GET", 1), Ok((Vec::new(), 0, true)));
        assert_eq!(feed(BodyFraming::Chunked, b"5\r\nhel", 2), Ok((b"hel".to_vec(), 6, false)));
    }

    #[test]
    fn refuses_broken_chunks() {
        let long = format!("1;{}", "x".repeat(5000));
        let trailers = format!("0\r\n{}", "A: b\r\n".repeat(5000));
        for bad in [
            "x\r\n",
            "\r\n",
            ";\r\n",
            "1\n",
            "1\r\nab",
            "1\r\na\rb",
            "00000000000000001\r\n",
            "1 \r\na",
            "1 x;\r\na",
            "1;\0\r\na",
            "0\r\nA\r\n\r\n",
            "0\r\n A: b\r\n\r\n",
            "0\r\nA : b\r\n\r\n",
            "0\r\nA: \x01\r\n\r\n",
            &long,
            &trailers,
        ] {
            assert_eq!(feed(BodyFraming::Chunked, bad.as_bytes(), 7), Err(BadChunk), "{bad:.20}");
        }
    }

    #[test]
    fn keeps_trailers() {
        let mut decoder = BodyDecoder::new(BodyFraming::Chunked);
        let body = b"1\r\na\r\n0\r\nDigest: x:y \r\nEmpty:\r\n\r\n";
        let mut at = 0;
        while !decoder.is_done() {
            assert!(decoder.trailers().is_empty());
            at += decoder.take(&body[at..at + 1]).unwrap().consumed;
        }
        let want = [("Digest".to_owned(), b"x:y".to_vec()), ("Empty".to_owned(), Vec::new())];
        assert_eq!((decoder.trailers(), at), (want.to_vec(), body.len()));
    }
}
