//! Undoing the content codings of a response.
//!
//! A response may name several codings, undone from last to first; names we do not know are passed over, as k6 does.
//! What comes out is limited twice, since 15 KiB on the wire can mean gigabytes in memory: by its size, and by how
//! often it is the size of what came in. At most the body and what it is decoded from are held at once, and no window
//! is larger than the limit. Decoder state and the first block of output live as long as the worker. Decoding starts
//! after the body's last byte was stamped, so it is in no timing.
//!
//! Invariant: what `decode` returns as a success is the complete body; anything short, damaged or with bytes left over
//! is a failure. What came out before the damage is returned with it, because k6 shows that.

use std::io::Read;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use bytes::Bytes;
use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::Coding;
use super::output::{DecodedBody, TooLong};
use crate::failure::{Failure, FailureKind, Step};

/// Bodies up to this size are decoded however small they were on the wire: a page of blanks is no attack.
const RATIO_FLOOR: u64 = 10 << 20;
/// The largest window of RFC 8878 that content codings need (RFC 9659): 8 MiB.
const ZSTD_WINDOW: u32 = 23;
/// The largest window the library takes without being asked: 128 MiB.
const ZSTD_LARGEST_WINDOW: u32 = 27;

/// How large a body may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Bytes of a decoded body.
    pub bytes: u64,
    /// Times its size on the wire, which bodies of more than 10 MiB must keep to.
    pub ratio: u64,
}

impl Default for DecodeLimits {
    /// 100 MiB, and 1,000 times.
    fn default() -> Self {
        DecodeLimits { bytes: 100 << 20, ratio: 1000 }
    }
}

impl DecodeLimits {
    /// Bytes that a body of `wire` bytes may become.
    pub(crate) fn most(&self, wire: usize) -> u64 {
        self.bytes.min(self.ratio.saturating_mul(wire as u64).max(RATIO_FLOOR))
    }

    /// Why a body of `wire` bytes became too large.
    fn told(&self, wire: usize) -> String {
        match (self.bytes, self.ratio) {
            (bytes, _) if self.most(wire) == bytes => {
                format!("it decodes to more than {bytes} bytes, the limit of the option maxDecodedBody")
            }
            (_, ratio) => format!(
                "{wire} bytes decode to more than {ratio} times as much, the limit of the option maxDecodedRatio"
            ),
        }
    }
}

/// Undoes content codings; one a worker.
pub struct ContentDecoder {
    inflate: Decompress,
    output: DecodedBody,
    limits: DecodeLimits,
}

impl ContentDecoder {
    /// A decoder that keeps to these limits.
    pub fn new(limits: DecodeLimits) -> ContentDecoder {
        ContentDecoder { inflate: Decompress::new(false), output: DecodedBody::default(), limits }
    }

    /// Decodes a body by its Content-Encoding. Without a coding we know the body comes back as it is.
    pub fn decode(&mut self, content_encoding: &str, body: Bytes) -> Result<Bytes, Undecoded> {
        let (wire, mut body) = (body.len(), body);
        let mut codings = content_encoding.split(',').rev().filter_map(|name| Coding::parse(name.trim())).peekable();
        while let Some(coding) = codings.next() {
            self.output.begin(self.limits.most(wire));
            let done = match coding {
                Coding::Gzip => self.gunzip(&body),
                Coding::Deflate => self.undeflate(&body),
                Coding::Brotli => self.unbrotli(&body),
                Coding::Zstd => self.unzstd(&body),
            };
            if let Err(fault) = done {
                let so_far = (fault.shows_body() && codings.peek().is_none()).then(|| self.output.take());
                self.output.drop_all();
                return Err(Undecoded { failure: fault.failure(&self.limits, wire), so_far });
            }
            // What it was decoded from goes before the whole is put together.
            drop(body);
            body = self.output.take();
        }
        Ok(body)
    }

    fn gunzip(&mut self, mut rest: &[u8]) -> Result<(), Fault> {
        let damaged = |why: &str| Fault::damaged("gzip", why);
        let mut head = gzip_head_len(rest).ok_or_else(|| match rest.len() {
            0 => Fault::NotBegun(String::from("EOF")),
            1..GZIP_HEAD => Fault::NotBegun(String::from("unexpected EOF")),
            _ => Fault::NotBegun(String::from("gzip: invalid header")),
        })?;
        loop {
            let mut crc = Crc::new();
            let used = self.inflate(&rest[head..], false, "gzip", |bytes| crc.update(bytes))?;
            let tail = rest.get(head + used..head + used + 8).ok_or(Fault::Short)?;
            let expected = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
            if tail != expected {
                return Err(damaged("invalid checksum"));
            }
            rest = &rest[head + used + 8..];
            if rest.is_empty() {
                return Ok(());
            }
            let is_short = rest.len() < GZIP_HEAD;
            head =
                gzip_head_len(rest).ok_or_else(|| if is_short { Fault::Short } else { damaged("invalid header") })?;
        }
    }

    fn undeflate(&mut self, body: &[u8]) -> Result<(), Fault> {
        if body.is_empty() {
            return Err(Fault::NotBegun(String::from("unexpected EOF")));
        }
        // RFC 1950, section 2.2: method 8 and a header that is a multiple of 31; a raw stream rarely looks so.
        let zlib =
            matches!(body, [cmf, flg, ..] if cmf & 15 == 8 && (u16::from(*cmf) << 8 | u16::from(*flg)) % 31 == 0);
        let used = self.inflate(body, zlib, "deflate", |_| {})?;
        if used == body.len() { Ok(()) } else { Err(Fault::damaged("deflate", "bytes after the end")) }
    }

    /// Decodes one deflate stream and shows `each` piece; says how many bytes of input it took.
    fn inflate(&mut self, input: &[u8], zlib: bool, coding: &str, mut each: impl FnMut(&[u8])) -> Result<usize, Fault> {
        self.inflate.reset(zlib);
        let position = |count: u64| usize::try_from(count).expect("no more than what is in memory");
        loop {
            let (used, made) = (position(self.inflate.total_in()), position(self.inflate.total_out()));
            let step = self.inflate.decompress(&input[used..], self.output.room(), FlushDecompress::None);
            let more = position(self.inflate.total_out()) - made;
            each(self.output.advance(more)?);
            let total = position(self.inflate.total_in());
            match step {
                Ok(Status::StreamEnd) => return Ok(total),
                Ok(_) if total > used || more > 0 => {}
                Ok(_) => return Err(Fault::Short),
                Err(_) => return Err(Fault::damaged(coding, "the stream is damaged")),
            }
        }
    }

    /// Windows up to 16 MiB, as RFC 7932 has them: the larger ones of another format are refused.
    fn unbrotli(&mut self, body: &[u8]) -> Result<(), Fault> {
        let alloc = StandardAlloc::default;
        let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
        let (mut left, mut used, mut total) = (body.len(), 0, 0);
        loop {
            let room = self.output.room();
            let (mut free, mut made) = (room.len(), 0);
            let step =
                BrotliDecompressStream(&mut left, &mut used, body, &mut free, &mut made, room, &mut total, &mut state);
            self.output.advance(made)?;
            match step {
                BrotliResult::NeedsMoreOutput => {}
                // What there was no room for is still to come.
                BrotliResult::NeedsMoreInput if free == 0 => {}
                BrotliResult::ResultSuccess if left == 0 => return Ok(()),
                BrotliResult::ResultSuccess => return Err(Fault::damaged("brotli", "bytes after the end")),
                BrotliResult::NeedsMoreInput => return Err(Fault::Short),
                BrotliResult::ResultFailure => return Err(Fault::damaged("brotli", "the stream is damaged")),
            }
        }
    }

    fn unzstd(&mut self, body: &[u8]) -> Result<(), Fault> {
        // RFC 8878 3: a body is any number of frames.
        if body.is_empty() {
            return Ok(());
        }
        let failed = |error: std::io::Error| match error.to_string() {
            _ if error.kind() == std::io::ErrorKind::UnexpectedEof => Fault::Short,
            text if text.contains("requires too much memory") => Fault::TooLarge,
            text => Fault::damaged("zstd", text),
        };
        let mut reader = zstd::stream::read::Decoder::with_buffer(body).map_err(failed)?;
        reader.window_log_max(self.zstd_window()).map_err(failed)?;
        loop {
            let read = reader.read(self.output.room()).map_err(failed)?;
            self.output.advance(read)?;
            if read == 0 {
                return Ok(());
            }
        }
    }

    /// Base-2 logarithm of the largest window: the window is memory beside the body.
    fn zstd_window(&self) -> u32 {
        self.limits.bytes.max(1).ilog2().clamp(ZSTD_WINDOW, ZSTD_LARGEST_WINDOW)
    }
}

/// Bytes of a gzip member's header at least.
const GZIP_HEAD: usize = 10;

/// Length of a gzip member's header, RFC 1952 section 2.3; `None` when it is none.
fn gzip_head_len(data: &[u8]) -> Option<usize> {
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let [0x1f, 0x8b, 8, flags, ..] = *data else { return None };
    let mut at = GZIP_HEAD;
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

/// A body that did not decode.
#[derive(Debug)]
pub struct Undecoded {
    /// Why.
    pub failure: Failure,
    /// What had come out by then; `None` where decoding did not begin, or was given up.
    pub so_far: Option<Bytes>,
}

/// Why a body did not decode.
enum Fault {
    TooLarge,
    /// It ended too early.
    Short,
    /// Its first bytes are not those of its coding.
    NotBegun(String),
    Damaged(String),
}

impl From<TooLong> for Fault {
    fn from(TooLong: TooLong) -> Self {
        Fault::TooLarge
    }
}

impl Fault {
    fn damaged(coding: &str, why: impl std::fmt::Display) -> Fault {
        Fault::Damaged(format!("{coding}: {why}"))
    }

    /// Whether k6 shows what came out by then.
    fn shows_body(&self) -> bool {
        matches!(self, Fault::Short | Fault::Damaged(_))
    }

    /// Of a body that had `wire` bytes. k6 calls a short body what it calls a response that broke off.
    fn failure(self, limits: &DecodeLimits, wire: usize) -> Failure {
        let (kind, message) = match self {
            Fault::TooLarge => (FailureKind::BodyTooLarge, format!("response body too large: {}", limits.told(wire))),
            Fault::Short => (FailureKind::Other, String::from("unexpected EOF")),
            Fault::NotBegun(why) | Fault::Damaged(why) => {
                (FailureKind::Decompression, format!("error decompressing response body ({why})"))
            }
        };
        Failure { step: Step::Decode, kind, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Payload;
    use crate::syntax::codec::encode;

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
        undo_within(DecodeLimits { bytes: 1 << 20, ..DecodeLimits::default() }, coding, body).map_err(
            |(kind, message)| {
                let is_short = (kind, message.as_str()) == (FailureKind::Other, "unexpected EOF");
                assert!(kind == FailureKind::Decompression || is_short, "{kind:?} {message}");
                message
            },
        )
    }

    fn undo_within(limits: DecodeLimits, coding: &str, body: Vec<u8>) -> Result<Bytes, (FailureKind, String)> {
        ContentDecoder::new(limits).decode(coding, body.into()).map_err(|Undecoded { failure, .. }| {
            assert_eq!(failure.step, Step::Decode);
            (failure.kind, failure.message)
        })
    }

    #[test]
    fn each_coding_comes_back_and_state_is_reused() {
        let mut decoder = ContentDecoder::new(DecodeLimits::default());
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
    fn raw_deflate_and_members_of_gzip() {
        let zlib = packed(Coding::Deflate, b"hello");
        assert_eq!(undo("deflate", zlib[2..zlib.len() - 4].to_vec()).unwrap(), "hello");
        let gzip = packed(Coding::Gzip, b"hello");
        assert_eq!(undo("gzip", [&gzip[..], &gzip[..]].concat()).unwrap(), "hellohello");
    }

    /// RFC 1952 2.3.1, each field by itself.
    #[test]
    fn headers_of_gzip() {
        let gzip = packed(Coding::Gzip, b"hello");
        let with = |flags: u8, fields: &[u8]| [&[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3], fields, &gzip[10..]].concat();
        let all = b"\x02\x00\x09\x09name\0note\0\x07\x07";
        let alone: [&[u8]; 6] = [b"", b"", b"\x07\x07", b"\x03\x00abc", b"name\0", b"\0"];
        for (flags, fields) in [0, 1, 2, 4, 8, 16].into_iter().zip(alone).chain([(30, &all[..])]) {
            assert_eq!(undo("gzip", with(flags, fields)).unwrap(), "hello", "flags {flags:#x}");
            let cut = with(flags, fields)[..9 + fields.len()].to_vec();
            assert!(undo("gzip", cut).is_err(), "flags {flags:#x} without the end of the header");
        }
        for reserved in [0x20, 0x40, 0x80] {
            let said = undo("gzip", with(reserved, b"")).unwrap_err();
            assert_eq!(said, "error decompressing response body (gzip: invalid header)", "{reserved:#x}");
        }
    }

    #[test]
    fn what_stands_behind_the_end() {
        let behind = |coding: Coding, more: &[u8]| undo(coding.name(), [&packed(coding, b"hello"), more].concat());
        let said = |name: &str| Err(format!("error decompressing response body ({name}: bytes after the end)"));
        assert_eq!(behind(Coding::Deflate, b"x"), said("deflate"));
        assert_eq!(behind(Coding::Brotli, b"x"), said("brotli"));
        assert_eq!(behind(Coding::Zstd, &packed(Coding::Zstd, b" you")).unwrap(), "hello you");
        assert_eq!(undo("deflate", vec![]).unwrap_err(), "error decompressing response body (unexpected EOF)");
    }

    /// k6 shows what came of the last coding that is undone, and nothing of a body that was given up.
    #[test]
    fn what_came_out_of_another_coding_is_not_shown() {
        let limits = DecodeLimits { bytes: 1_000, ..DecodeLimits::default() };
        let so_far = |coding: &str, body: &[u8]| {
            ContentDecoder::new(limits).decode(coding, Bytes::copy_from_slice(body)).unwrap_err().so_far
        };
        let gzip = packed(Coding::Gzip, b"hello");
        let broken = &gzip[..gzip.len() - 1];
        assert_eq!(so_far("gzip", broken), Some(Bytes::from("hello")));
        assert_eq!(so_far("br, gzip", broken), None);
        assert_eq!(so_far("gzip", b"no gzip at all"), None);
        assert_eq!(so_far("gzip", &packed(Coding::Gzip, &[0; 1_001])), None);
    }

    #[test]
    fn damaged_bodies_are_failures() {
        let gzip = packed(Coding::Gzip, &b"hello".repeat(100));
        let says = |coding: &str, body: &[u8]| undo(coding, body.to_vec()).unwrap_err();
        assert_eq!(says("gzip", b"not gzip at all"), "error decompressing response body (gzip: invalid header)");
        assert_eq!(says("gzip", b""), "error decompressing response body (EOF)");
        assert_eq!(says("gzip", &gzip[..5]), "error decompressing response body (unexpected EOF)");
        let wrong = [&gzip[..gzip.len() - 8], &[0; 8][..]].concat();
        assert_eq!(says("gzip", &wrong), "error decompressing response body (gzip: invalid checksum)");
        assert_eq!(says("gzip", &[&gzip[..], b"short"].concat()), "unexpected EOF");
        let behind = says("gzip", &[&gzip[..], b"more than a head"].concat());
        assert_eq!(behind, "error decompressing response body (gzip: invalid header)");
        assert_eq!(undo("zstd", Vec::new()).unwrap(), "");
        assert!(undo("gzip", [&gzip[..], b"junk"].concat()).is_err());
        for coding in ALL {
            let whole = packed(coding, &b"hello".repeat(100));
            for cut in 1..whole.len() {
                assert!(undo(coding.name(), whole[..cut].to_vec()).is_err(), "{coding:?} cut at {cut} was accepted");
            }
            assert!(undo(coding.name(), b"garbage!!".to_vec()).is_err());
        }
    }

    #[test]
    fn what_came_out_before_a_body_broke_off_is_shown() {
        let mut rng = fastrand::Rng::with_seed(11);
        let text: Vec<u8> = (0..3_000_000).map(|_| rng.u8(b'a'..b'f')).collect();
        for coding in ALL {
            let whole = packed(coding, &text);
            let short = Bytes::copy_from_slice(&whole[..whole.len() - 5]);
            let undecoded = ContentDecoder::new(DecodeLimits::default()).decode(coding.name(), short).unwrap_err();
            let failure = undecoded.failure;
            assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Other, "unexpected EOF"));
            let so_far = undecoded.so_far.unwrap();
            assert!(so_far.len() > 1_000_000 && text.starts_with(&so_far), "{coding:?}: {} bytes", so_far.len());
        }
    }

    #[test]
    fn bombs_stop_at_the_cap() {
        let limits = DecodeLimits { bytes: 1 << 20, ..DecodeLimits::default() };
        let told =
            "response body too large: it decodes to more than 1048576 bytes, the limit of the option maxDecodedBody";
        for coding in ALL {
            let bomb = packed(coding, &vec![0; 4 << 20]);
            assert_eq!(
                undo_within(limits, coding.name(), bomb),
                Err((FailureKind::BodyTooLarge, String::from(told))),
                "{coding:?}"
            );
            let fits = packed(coding, &vec![0; 1 << 20]);
            assert_eq!(undo(coding.name(), fits).unwrap().len(), 1 << 20, "{coding:?}");
        }
        let twice = packed(Coding::Zstd, &packed(Coding::Gzip, &vec![0; 4 << 20]));
        assert_eq!(undo_within(limits, "gzip, zstd", twice), Err((FailureKind::BodyTooLarge, String::from(told))));
    }

    #[test]
    fn bodies_that_grow_too_often_stop_at_the_ratio() {
        for coding in ALL {
            let within = |ratio, size| {
                let body = packed(coding, &vec![0; size]);
                let wire = body.len();
                let limits = DecodeLimits { ratio, ..DecodeLimits::default() };
                (undo_within(limits, coding.name(), body).map(|body| body.len()), wire)
            };
            // Up to 10 MiB there is no error, however small they were.
            assert_eq!(within(1, 10 << 20).0, Ok(10 << 20), "{coding:?}");
            let (outcome, wire) = within(50, 20 << 20);
            let told = format!(
                "response body too large: {wire} bytes decode to more than 50 times as much, the limit of the option \
                 maxDecodedRatio"
            );
            assert_eq!(outcome, Err((FailureKind::BodyTooLarge, told)), "{coding:?}");
            assert_eq!(within(100_000_000, 20 << 20).0, Ok(20 << 20), "{coding:?}");
        }
    }

    #[test]
    fn windows_are_no_larger_than_a_body_may_be() {
        // RFC 9659 lets a body without a limit of its own have 8 MiB.
        for (bytes, window_log, fits) in
            [(1 << 20, 23, true), (1 << 20, 24, false), (16 << 20, 24, true), (16 << 20, 25, false)]
        {
            let limits = DecodeLimits { bytes, ..DecodeLimits::default() };
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(window_log).unwrap();
            std::io::Write::write_all(&mut encoder, b"short").unwrap();
            let decoded = undo_within(limits, "zstd", encoder.finish().unwrap()).map_err(|(kind, _)| kind);
            let expected = if fits { Ok(Bytes::from("short")) } else { Err(FailureKind::BodyTooLarge) };
            assert_eq!(decoded, expected, "a window of {window_log} bits");
        }
        // The first byte of brotli's large windows, which no content coding has (RFC 7932 9.1 leaves it reserved).
        let said = undo("br", vec![0x11, 0x1e, 0, 0, 0]).unwrap_err();
        assert_eq!(said, "error decompressing response body (brotli: the stream is damaged)");
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
            failed += usize::from(undo_within(DecodeLimits::default(), coding.name(), body).is_err());
        }
        assert!(failed > 1000, "only {failed} damaged bodies were noticed");
    }
}
