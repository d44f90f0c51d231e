//! Content codings: gzip, deflate, br and zstd, both ways.
//!
//! A response may name several codings, undone from last to first; names we do not know are passed over, as k6 does. The
//! decoded size is capped, since a megabyte on the wire can mean a terabyte in memory. Decoder state and the output buffer
//! live as long as the worker. Decoding starts after the body's last byte was stamped, so it is in no timing.
//!
//! Invariant: what `decode` returns is the complete body; anything short, damaged or with bytes left over is a failure.

use std::borrow::Cow;
use std::io::{Read, Write};

use bytes::Bytes;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::payload::Payload;

/// The output buffer is given back to the system when a body was larger than this.
const SCRATCH_KEPT: usize = 1 << 20;

/// A content coding of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950; raw RFC 1951 streams, which old servers send under this name, are accepted too.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The coding of that name, compared without case; `x-gzip` is gzip.
    pub fn parse(name: &str) -> Option<Coding> {
        const NAMES: [(&str, Coding); 5] = [
            ("gzip", Coding::Gzip),
            ("x-gzip", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("br", Coding::Brotli),
            ("zstd", Coding::Zstd),
        ];
        NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, coding)| *coding)
    }

    /// The name in Content-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }
}

/// Encodes a body for `params.compression`, at each coding's default level. The result is in memory; fails when the body is
/// a file that cannot be read.
pub fn encode(coding: Coding, body: &Payload) -> Result<Payload, Failure> {
    const IN_MEMORY: &str = "writing to a Vec cannot fail";
    let level = flate2::Compression::default();
    let out = match coding {
        Coding::Gzip => {
            let mut to = flate2::write::GzEncoder::new(Vec::new(), level);
            feed(body, &mut to)?;
            to.finish().expect(IN_MEMORY)
        }
        Coding::Deflate => {
            let mut to = flate2::write::ZlibEncoder::new(Vec::new(), level);
            feed(body, &mut to)?;
            to.finish().expect(IN_MEMORY)
        }
        Coding::Brotli => {
            let mut to = brotli::CompressorWriter::new(Vec::new(), 4096, 6, 22);
            feed(body, &mut to)?;
            to.into_inner()
        }
        Coding::Zstd => {
            let mut to = zstd::stream::write::Encoder::new(Vec::new(), 0).expect("zstd's default level is valid");
            feed(body, &mut to)?;
            to.finish().expect(IN_MEMORY)
        }
    };
    Ok(Payload::from_bytes(out))
}

fn feed(body: &Payload, to: &mut impl Write) -> Result<(), Failure> {
    let fed = body.read(|piece| to.write_all(piece).expect("an encoder over a Vec takes all bytes"));
    fed.map_err(|error| failure_map::payload(error, Step::Prepare))
}

/// Undoes content codings; one a worker.
pub struct Decoder {
    inflate: Decompress,
    scratch: Vec<u8>,
    cap: u64,
}

impl Decoder {
    /// `cap`: the largest decoded body, in bytes.
    pub fn new(cap: u64) -> Decoder {
        Decoder { inflate: Decompress::new(false), scratch: Vec::new(), cap }
    }

    /// Decodes a body by its Content-Encoding. Without a coding we know the body comes back as it is.
    pub fn decode(&mut self, content_encoding: &str, body: Bytes) -> Result<Bytes, Failure> {
        let mut body = body;
        for coding in content_encoding.split(',').rev().filter_map(|name| Coding::parse(name.trim())) {
            body = self.decode_one(coding, &body)?;
        }
        Ok(body)
    }

    fn decode_one(&mut self, coding: Coding, body: &[u8]) -> Result<Bytes, Failure> {
        self.scratch.clear();
        let done = match coding {
            Coding::Gzip => self.gunzip(body),
            Coding::Deflate => self.undeflate(body),
            Coding::Brotli => self.pull(brotli::Decompressor::new(body, 4096), "brotli"),
            Coding::Zstd => match zstd::stream::read::Decoder::with_buffer(body) {
                Ok(_) if body.is_empty() => Err(Fault::damaged("zstd", "body is empty")),
                Ok(reader) => self.pull(reader, "zstd"),
                Err(e) => Err(Fault::damaged("zstd", e)),
            },
        };
        let decoded = Bytes::copy_from_slice(&self.scratch);
        if self.scratch.capacity() > SCRATCH_KEPT {
            self.scratch = Vec::new();
        }
        done.map(|()| decoded).map_err(|fault| fault.failure(self.cap))
    }

    /// Reads a decoder to its end.
    fn pull(&mut self, reader: impl Read, coding: &str) -> Result<(), Fault> {
        let read = reader.take(self.cap.saturating_add(1)).read_to_end(&mut self.scratch);
        // Past the cap first: an error behind it does not matter any more.
        if self.scratch.len() as u64 > self.cap {
            return Err(Fault::TooLarge);
        }
        read.map(drop).map_err(|e| Fault::damaged(coding, e))
    }

    fn gunzip(&mut self, mut rest: &[u8]) -> Result<(), Fault> {
        let damaged = |why: &str| Fault::damaged("gzip", why);
        loop {
            let head = gzip_head_len(rest).ok_or_else(|| damaged("invalid header"))?;
            let start = self.scratch.len();
            let used = self.inflate(&rest[head..], false, "gzip")?;
            let tail = rest.get(head + used..head + used + 8).ok_or_else(|| damaged("unexpected end"))?;
            let mut crc = Crc::new();
            crc.update(&self.scratch[start..]);
            let expected = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
            if tail != expected {
                return Err(damaged("invalid checksum"));
            }
            rest = &rest[head + used + 8..];
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    fn undeflate(&mut self, body: &[u8]) -> Result<(), Fault> {
        // RFC 1950, section 2.2: method 8 and a header that is a multiple of 31; a raw stream rarely looks so.
        let zlib =
            matches!(body, [cmf, flg, ..] if cmf & 15 == 8 && (u16::from(*cmf) << 8 | u16::from(*flg)) % 31 == 0);
        let used = self.inflate(body, zlib, "deflate")?;
        if used == body.len() { Ok(()) } else { Err(Fault::damaged("deflate", "bytes after the end")) }
    }

    /// Appends one deflate stream to `scratch`; says how many bytes of input it took.
    fn inflate(&mut self, input: &[u8], zlib: bool, coding: &str) -> Result<usize, Fault> {
        self.inflate.reset(zlib);
        loop {
            let used = usize::try_from(self.inflate.total_in()).expect("no more than the slice's length");
            if self.scratch.len() == self.scratch.capacity() {
                self.scratch.reserve(self.scratch.len().max(input.len().saturating_mul(2)).clamp(4096, SCRATCH_KEPT));
            }
            let before = self.scratch.len();
            let step = self.inflate.decompress_vec(&input[used..], &mut self.scratch, FlushDecompress::None);
            if self.scratch.len() as u64 > self.cap {
                return Err(Fault::TooLarge);
            }
            let total = usize::try_from(self.inflate.total_in()).expect("no more than the slice's length");
            match step {
                Ok(Status::StreamEnd) => return Ok(total),
                Ok(_) if total > used || self.scratch.len() > before => {}
                Ok(_) => return Err(Fault::damaged(coding, "unexpected end")),
                Err(_) => return Err(Fault::damaged(coding, "the stream is damaged")),
            }
        }
    }
}

/// Length of a gzip member's header, RFC 1952 section 2.3; `None` when it is none.
fn gzip_head_len(data: &[u8]) -> Option<usize> {
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let [0x1f, 0x8b, 8, flags, ..] = *data else { return None };
    let mut at = 10;
    if flags & EXTRA != 0 {
        at += 2 + usize::from(u16::from_le_bytes(data.get(at..at + 2)?.try_into().ok()?));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            at += data.get(at..)?.iter().position(|b| *b == 0)? + 1;
        }
    }
    if flags & CRC != 0 {
        at += 2;
    }
    (flags & 0xe0 == 0 && at <= data.len()).then_some(at)
}

/// Why a body did not decode.
enum Fault {
    TooLarge,
    Damaged(Cow<'static, str>),
}

impl Fault {
    fn damaged(coding: &str, why: impl std::fmt::Display) -> Fault {
        Fault::Damaged(Cow::Owned(format!("{coding}: {why}")))
    }

    fn failure(self, cap: u64) -> Failure {
        let why = match self {
            Fault::TooLarge => Cow::Owned(format!(
                "it decodes to more than {cap} bytes; raise the cap on decoded bodies, or use responseType \"none\""
            )),
            Fault::Damaged(why) => why,
        };
        let message = format!("error decompressing response body ({why})");
        Failure { step: Step::Decode, kind: FailureKind::Decompression, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

    fn packed(coding: Coding, text: &[u8]) -> Vec<u8> {
        let (head, tail) = text.split_at(text.len() / 2);
        let mut body = Payload::from_bytes(head.to_vec());
        body.push(crate::Segment::Shared(tail.to_vec().into()));
        let mut packed = Vec::new();
        encode(coding, &body).unwrap().read(|piece| packed.extend_from_slice(piece)).unwrap();
        packed
    }

    fn undo(coding: &str, body: Vec<u8>) -> Result<Bytes, String> {
        Decoder::new(1 << 20).decode(coding, body.into()).map_err(|f| {
            assert_eq!((f.step, f.kind.code()), (Step::Decode, 1701));
            f.message
        })
    }

    #[test]
    fn each_coding_comes_back_and_state_is_reused() {
        let mut decoder = Decoder::new(1 << 24);
        let mut rng = fastrand::Rng::with_seed(3);
        for size in [0, 1, 500, 70_000, 3_000_000] {
            let text: Vec<u8> = (0..size).map(|_| rng.u8(b'a'..b'f')).collect();
            for coding in ALL {
                let body = Bytes::from(packed(coding, &text));
                assert!(decoder.decode(coding.name(), body).unwrap() == text, "{coding:?} of {size} bytes");
            }
        }
    }

    #[test]
    fn lists_are_undone_from_the_last() {
        let body = packed(Coding::Brotli, &packed(Coding::Gzip, b"hello"));
        assert_eq!(undo("gzip, BR", body.clone()).unwrap(), "hello");
        assert_eq!(undo("x-gzip, aws-chunked,, br ,identity", body.clone()).unwrap(), "hello");
        assert!(undo("br, gzip", body.clone()).is_err());
        assert_eq!(undo("foo", body.clone()).unwrap(), body);
    }

    #[test]
    fn raw_deflate_members_and_header_fields() {
        let zlib = packed(Coding::Deflate, b"hello");
        assert_eq!(undo("deflate", zlib[2..zlib.len() - 4].to_vec()).unwrap(), "hello");
        let gzip = packed(Coding::Gzip, b"hello");
        assert_eq!(undo("gzip", [&gzip[..], &gzip[..]].concat()).unwrap(), "hellohello");
        let fancy =
            [&[0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 2, 0, 9, 9][..], b"name\0note\0", &[7, 7], &gzip[10..]];
        assert_eq!(undo("gzip", fancy.concat()).unwrap(), "hello");
    }

    #[test]
    fn damaged_bodies_are_failures() {
        let gzip = packed(Coding::Gzip, &b"hello".repeat(100));
        let says = |coding: &str, body: &[u8]| undo(coding, body.to_vec()).unwrap_err();
        assert_eq!(says("gzip", b"not gzip at all"), "error decompressing response body (gzip: invalid header)");
        assert_eq!(says("gzip", &gzip[..gzip.len() - 4]), "error decompressing response body (gzip: unexpected end)");
        assert_eq!(says("gzip", &gzip[..gzip.len() - 10]), "error decompressing response body (gzip: unexpected end)");
        let wrong = [&gzip[..gzip.len() - 8], &[0; 8][..]].concat();
        assert_eq!(says("gzip", &wrong), "error decompressing response body (gzip: invalid checksum)");
        assert!(undo("gzip", [&gzip[..], b"junk"].concat()).is_err());
        for coding in ALL {
            let whole = packed(coding, &b"hello".repeat(100));
            for cut in 0..whole.len() {
                assert!(undo(coding.name(), whole[..cut].to_vec()).is_err(), "{coding:?} cut at {cut} was accepted");
            }
            assert!(undo(coding.name(), b"garbage!!".to_vec()).is_err());
        }
    }

    #[test]
    fn bombs_stop_at_the_cap() {
        for coding in ALL {
            let bomb = packed(coding, &vec![0; 4 << 20]);
            let message = undo(coding.name(), bomb).unwrap_err();
            assert!(message.contains("more than 1048576 bytes; raise the cap"), "{coding:?}: {message}");
            let fits = packed(coding, &vec![0; 1 << 20]);
            assert_eq!(undo(coding.name(), fits).unwrap().len(), 1 << 20, "{coding:?}");
        }
    }

    #[test]
    fn random_damage_never_panics() {
        let mut rng = fastrand::Rng::with_seed(5);
        let wholes = ALL.map(|c| (c, packed(c, &b"some text, some more text".repeat(9))));
        let mut failed = 0;
        for _ in 0..4_000 {
            let (coding, whole) = &wholes[rng.usize(0..4)];
            let mut body = whole.clone();
            let at = rng.usize(0..body.len());
            body[at] ^= 1 << rng.u8(0..8);
            failed += usize::from(undo(coding.name(), body).is_err());
        }
        assert!(failed > 1000, "only {failed} damaged bodies were noticed");
    }
}
