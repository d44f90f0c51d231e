//! Response bodies: how their end is known, and taking them apart piece by piece.
//!
//! Pure: bytes in, bytes out, no IO. A chunked body may be cut anywhere, also inside a size line or a trailer.
//! Refuses chunk sizes that are not hexadecimal, lines over 4 KiB (extensions) and trailers over 64 KiB in all.
//! Invariant: `feed` never consumes a byte beyond the body's end.

/// A chunk-size line with its extensions may be this long.
const MAX_SIZE_LINE: usize = 4 << 10;
/// All trailers together may be this long.
const MAX_TRAILERS: usize = 64 << 10;

/// How the end of a body is known, and how far it has been read.
#[derive(Debug)]
pub(crate) enum BodyReader {
    /// By its length: this many bytes are missing.
    Length(u64),
    /// By its last chunk.
    Chunked(Chunked),
    /// By the end of the connection.
    ToEof,
}

/// What feeding a body came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Bytes of the input that belong to the body, framing included.
    pub(crate) consumed: usize,
    /// Whether the body has ended.
    pub(crate) done: bool,
}

/// Progress inside a chunked body.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    state: ChunkState,
    /// Bytes of the current chunk still to come, or its size so far.
    left: u64,
    /// Length of the current line, or of all trailers.
    line: usize,
    digits: u8,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum ChunkState {
    #[default]
    Size,
    Extension,
    Data,
    DataEnd,
    TrailerStart,
    Trailer,
}

impl BodyReader {
    /// Takes what belongs to the body from the input and hands its content to `sink`.
    pub(crate) fn feed(&mut self, input: &[u8], mut sink: impl FnMut(&[u8])) -> Result<Taken, String> {
        match self {
            BodyReader::Length(left) => {
                let take = usize::try_from(*left).map_or(input.len(), |l| l.min(input.len()));
                sink(&input[..take]);
                *left -= take as u64;
                Ok(Taken { consumed: take, done: *left == 0 })
            }
            BodyReader::Chunked(chunked) => chunked.feed(input, sink),
            BodyReader::ToEof => {
                sink(input);
                Ok(Taken { consumed: input.len(), done: false })
            }
        }
    }

    /// Counts bytes that were dropped before anybody saw them; whether the body has ended. Only of a body of known length,
    /// and no more than are missing.
    pub(crate) fn skip(&mut self, bytes: u64) -> bool {
        let BodyReader::Length(left) = self else { unreachable!("only a body of known length is skipped") };
        *left -= bytes;
        *left == 0
    }

    /// Whether the peer may end the connection here.
    pub(crate) fn may_end(&self) -> bool {
        matches!(self, BodyReader::ToEof)
    }
}

impl Chunked {
    fn feed(&mut self, input: &[u8], mut sink: impl FnMut(&[u8])) -> Result<Taken, String> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            if self.state == ChunkState::Data {
                let rest = &input[at..];
                let take = usize::try_from(self.left).map_or(rest.len(), |l| l.min(rest.len()));
                sink(&rest[..take]);
                at += take;
                self.left -= take as u64;
                if self.left == 0 {
                    self.state = ChunkState::DataEnd;
                }
                continue;
            }
            at += 1;
            if self.step(byte)? {
                return Ok(Taken { consumed: at, done: true });
            }
        }
        Ok(Taken { consumed: at, done: false })
    }

    /// One byte of framing; `true` when it was the last of the body.
    fn step(&mut self, byte: u8) -> Result<bool, String> {
        match self.state {
            ChunkState::Size => self.size(byte)?,
            ChunkState::Extension if byte == b'\n' => self.size_known(),
            ChunkState::Extension => {
                self.line += 1;
                if self.line > MAX_SIZE_LINE {
                    return Err(format!("chunk size line longer than {MAX_SIZE_LINE} bytes"));
                }
            }
            ChunkState::DataEnd => match byte {
                b'\r' => {}
                b'\n' => *self = Chunked::default(),
                _ => return Err(String::from("malformed chunked encoding: chunk longer than its size")),
            },
            ChunkState::TrailerStart if byte == b'\n' => return Ok(true),
            ChunkState::TrailerStart if byte == b'\r' => {}
            ChunkState::TrailerStart | ChunkState::Trailer => {
                self.state = if byte == b'\n' { ChunkState::TrailerStart } else { ChunkState::Trailer };
                self.line += 1;
                if self.line > MAX_TRAILERS {
                    return Err(format!("trailers longer than {MAX_TRAILERS} bytes"));
                }
            }
            ChunkState::Data => unreachable!("chunk data is taken in runs by feed"),
        }
        Ok(false)
    }

    fn size(&mut self, byte: u8) -> Result<(), String> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\n' if self.digits > 0 => {
                self.size_known();
                return Ok(());
            }
            b';' | b' ' | b'\t' | b'\r' if self.digits > 0 => {
                self.state = ChunkState::Extension;
                return Ok(());
            }
            _ => return Err(String::from("invalid byte in chunk length")),
        };
        self.digits += 1;
        if self.digits > 16 {
            return Err(String::from("http chunk length too large"));
        }
        self.left = self.left << 4 | u64::from(digit);
        Ok(())
    }

    fn size_known(&mut self) {
        self.line = 0;
        self.state = if self.left == 0 { ChunkState::TrailerStart } else { ChunkState::Data };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds in two pieces cut at `cut`; gives content, bytes consumed in all, and whether it ended.
    fn cut_at(message: &[u8], cut: usize) -> Result<(Vec<u8>, usize, bool), String> {
        let mut reader = BodyReader::Chunked(Chunked::default());
        let mut content = Vec::new();
        let first = reader.feed(&message[..cut], |b| content.extend_from_slice(b))?;
        if first.done {
            return Ok((content, first.consumed, true));
        }
        let second = reader.feed(&message[cut..], |b| content.extend_from_slice(b))?;
        Ok((content, first.consumed + second.consumed, second.done))
    }

    #[test]
    fn chunked_bodies_survive_any_cut() {
        let message =
            b"5;name=\"v\"\r\nhello\r\n1A \r\nabcdefghijklmnopqrstuvwxyz\r\n000\r\nX-Sum: 1\r\nY: 2\r\n\r\nNEXT";
        let end = message.len() - 4;
        for cut in 0..=message.len() {
            let (content, consumed, done) = cut_at(message, cut).unwrap();
            assert_eq!(content, b"helloabcdefghijklmnopqrstuvwxyz", "cut at {cut}");
            assert_eq!((consumed, done), (end, true), "cut at {cut}");
        }
    }

    #[test]
    fn broken_framing_is_named() {
        let cases: [(&[u8], &str); 5] = [
            (b"xyz\r\n", "invalid byte in chunk length"),
            (b"\r\n", "invalid byte in chunk length"),
            (b"-1\r\n", "invalid byte in chunk length"),
            (b"11112222333344445\r\n", "http chunk length too large"),
            (b"2\r\nabc\r\n", "malformed chunked encoding: chunk longer than its size"),
        ];
        for (input, message) in cases {
            assert_eq!(cut_at(input, input.len()).unwrap_err(), message);
        }
    }

    #[test]
    fn endless_extensions_and_trailers_are_refused() {
        let extension = [b"1;".to_vec(), vec![b'x'; MAX_SIZE_LINE + 1]].concat();
        assert!(cut_at(&extension, 0).unwrap_err().contains("chunk size line"));
        let trailers = [b"0\r\n".to_vec(), vec![b'x'; MAX_TRAILERS + 1]].concat();
        assert!(cut_at(&trailers, 0).unwrap_err().contains("trailers"));
    }

    #[test]
    fn a_length_takes_no_byte_too_many() {
        let mut reader = BodyReader::Length(3);
        let mut content = Vec::new();
        assert_eq!(reader.feed(b"ab", |b| content.extend_from_slice(b)), Ok(Taken { consumed: 2, done: false }));
        assert_eq!(reader.feed(b"cd", |b| content.extend_from_slice(b)), Ok(Taken { consumed: 1, done: true }));
        assert_eq!(content, b"abc");
    }
}
