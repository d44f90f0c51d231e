//! base64 in the four variants that scripts can name.
//!
//! Well-formed input takes the SIMD path. What it refuses is read with the leniency scripts rely on: line breaks are
//! skipped, surplus bits of the last symbol are ignored, and, beyond k6, padded pieces may follow each other (what is
//! left when a script joins the encodings of several chunks). Lines and pieces take the SIMD path too; what is left is
//! read symbol by symbol, which finds the position of the first byte that cannot be read.

use base64_simd::Base64;
use memchr::{memchr, memchr2, memchr2_iter};

/// Alphabet and padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `+` and `/`, padded.
    Std,
    /// `+` and `/`, no padding.
    RawStd,
    /// `-` and `_`, padded.
    Url,
    /// `-` and `_`, no padding.
    RawUrl,
}

/// The input is not base64: position of the first byte that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt(pub usize);

impl Variant {
    /// The variant a script means. Any other name means `std`, as in k6.
    pub fn named(name: &str) -> Self {
        match name {
            "rawstd" => Variant::RawStd,
            "url" => Variant::Url,
            "rawurl" => Variant::RawUrl,
            _ => Variant::Std,
        }
    }

    fn codec(self) -> &'static Base64 {
        match self {
            Variant::Std => &base64_simd::STANDARD,
            Variant::RawStd => &base64_simd::STANDARD_NO_PAD,
            Variant::Url => &base64_simd::URL_SAFE,
            Variant::RawUrl => &base64_simd::URL_SAFE_NO_PAD,
        }
    }

    fn padded(self) -> bool {
        matches!(self, Variant::Std | Variant::Url)
    }

    fn symbol(self, byte: u8) -> Option<u8> {
        let url = matches!(self, Variant::Url | Variant::RawUrl);
        match byte {
            b'A'..=b'Z' => Some(byte - b'A'),
            b'a'..=b'z' => Some(byte - b'a' + 26),
            b'0'..=b'9' => Some(byte - b'0' + 52),
            b'-' if url => Some(62),
            b'_' if url => Some(63),
            b'+' if !url => Some(62),
            b'/' if !url => Some(63),
            _ => None,
        }
    }

    /// The bytes as text.
    pub fn encode(self, bytes: &[u8]) -> String {
        self.codec().encode_to_string(bytes)
    }

    /// The bytes that the text stands for.
    pub fn decode(self, text: &[u8]) -> Result<Vec<u8>, Corrupt> {
        // A text that is wrong within is decoded up to there for nothing, so the ends of pieces are looked for first.
        let is_one_piece = memchr(b'=', text).is_none_or(|padding| padding + 2 >= text.len());
        let found = if is_one_piece { self.codec().decode_to_vec(text).ok() } else { self.decode_pieces(text) };
        let found = found.or_else(|| {
            memchr2(b'\r', b'\n', text)?;
            self.decode_pieces(&without_line_breaks(text))
        });
        found.map_or_else(|| Lenient { variant: self, text, at: 0 }.decode(), Ok)
    }

    /// Padded pieces, each by the SIMD path; `None` when that is not what it is.
    fn decode_pieces(self, text: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
        let mut start = 0;
        while start < text.len() {
            let symbols = memchr(b'=', &text[start..]).map_or(text.len(), |found| start + found);
            let padding = text[symbols..].iter().take(2).take_while(|byte| **byte == b'=').count();
            self.codec().decode_append(&text[start..symbols + padding], &mut out).ok()?;
            debug_assert!(symbols + padding > start, "each piece is an advance");
            start = symbols + padding;
        }
        Some(out)
    }
}

fn without_line_breaks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut start = 0;
    for end in memchr2_iter(b'\r', b'\n', text).chain([text.len()]) {
        out.extend_from_slice(&text[start..end]);
        start = end + 1;
    }
    out
}

/// Reader of what the fast path refused.
struct Lenient<'a> {
    variant: Variant,
    text: &'a [u8],
    at: usize,
}

impl Lenient<'_> {
    fn decode(mut self) -> Result<Vec<u8>, Corrupt> {
        let mut out = Vec::with_capacity(self.text.len() / 4 * 3 + 3);
        while let Some((symbols, count)) = self.quantum()? {
            debug_assert!((2..=4).contains(&count), "{count} symbols are no bytes");
            debug_assert!(symbols.iter().all(|symbol| *symbol < 64));
            let bits = symbols.iter().fold(0u32, |bits, symbol| bits << 6 | u32::from(*symbol));
            out.extend_from_slice(&bits.to_be_bytes()[1..count]);
        }
        Ok(out)
    }

    /// The next four symbols, and how many of them the text has (2 to 4); none at its end.
    fn quantum(&mut self) -> Result<Option<([u8; 4], usize)>, Corrupt> {
        let mut symbols = [0; 4];
        for count in 0..4 {
            let Some(byte) = self.next_byte() else {
                return match count {
                    0 => Ok(None),
                    2 | 3 if !self.variant.padded() => Ok(Some((symbols, count))),
                    _ => Err(Corrupt(self.text.len() - count)),
                };
            };
            match self.variant.symbol(byte) {
                Some(symbol) => symbols[count] = symbol,
                None if byte == b'=' && self.variant.padded() && count >= 2 => {
                    if count == 2 {
                        self.second_padding()?;
                    }
                    return Ok(Some((symbols, count)));
                }
                None => return Err(Corrupt(self.at - 1)),
            }
        }
        Ok(Some((symbols, 4)))
    }

    fn second_padding(&mut self) -> Result<(), Corrupt> {
        match self.next_byte() {
            Some(b'=') => Ok(()),
            Some(_) => Err(Corrupt(self.at - 1)),
            None => Err(Corrupt(self.text.len())),
        }
    }

    fn next_byte(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            if byte != b'\n' && byte != b'\r' {
                return Some(byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Variant, &str); 4] =
        [(Variant::Std, "-_8="), (Variant::RawStd, "-_8"), (Variant::Url, "+/8="), (Variant::RawUrl, "+/8")];

    #[test]
    fn each_variant_reads_what_it_writes_and_refuses_the_other_alphabet() {
        for (variant, foreign) in ALL {
            for len in 0..70 {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 251) as u8).collect();
                assert_eq!(variant.decode(variant.encode(&bytes).as_bytes()), Ok(bytes), "{variant:?} {len}");
            }
            assert_eq!(variant.decode(foreign.as_bytes()), Err(Corrupt(0)), "{variant:?}");
        }
        assert_eq!(Variant::Std.encode(&[251, 255, 1]), "+/8B");
        assert_eq!(Variant::Url.encode(&[251, 255]), "-_8=");
        assert_eq!(Variant::RawUrl.encode(&[251, 255]), "-_8");
    }

    #[test]
    fn line_breaks_and_surplus_bits_do_not_matter() {
        assert_eq!(Variant::Std.decode(b"YW\r\nJj\n"), Ok(b"abc".to_vec()));
        assert_eq!(Variant::Std.decode(b"YR=\n="), Ok(b"a".to_vec()));
        assert_eq!(Variant::RawStd.decode(b"YR"), Ok(b"a".to_vec()));
    }

    #[test]
    fn padded_pieces_may_follow_each_other() {
        assert_eq!(Variant::Std.decode(b"YQ==YmM=ZGVm"), Ok(b"abcdef".to_vec()));
    }

    /// By instructions it is 1.01; before padding was looked for first it was 6.7. The limit leaves room for a busy
    /// machine.
    #[test]
    fn joined_pieces_cost_about_what_one_text_costs() {
        let bytes = vec![7; 1_000_000];
        let one = Variant::Std.encode(&bytes);
        let joined: String = bytes.chunks(8192).map(|piece| Variant::Std.encode(piece)).collect();
        let best = |text: &str| {
            let rounds = (0..30).map(|_| {
                let begun = std::time::Instant::now();
                assert_eq!(Variant::Std.decode(text.as_bytes()).map(|bytes| bytes.len()), Ok(bytes.len()));
                begun.elapsed()
            });
            rounds.min().expect("there are rounds")
        };
        let (one, joined) = (best(&one), best(&joined));
        assert!(joined < one * 3, "{joined:?} for joined pieces, {one:?} for one text");
    }

    #[test]
    fn fast_ways_read_what_the_slow_way_reads() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut both = [0; 2];
        for _ in 0..40_000 {
            let text: Vec<u8> =
                (0..random.usize(..14)).map(|_| *random.choice(b"AQgw==\n\r*").expect("not empty")).collect();
            for variant in [Variant::Std, Variant::RawUrl] {
                let slow = Lenient { variant, text: &text, at: 0 }.decode();
                both[usize::from(slow.is_ok())] += 1;
                assert_eq!(variant.decode(&text), slow, "{variant:?} {:?}", String::from_utf8_lossy(&text));
            }
        }
        assert!(both.iter().all(|count| *count > 1_000), "{both:?}");
    }

    #[test]
    fn an_error_points_at_the_byte() {
        for (variant, text, at) in [
            (Variant::Std, "****", 0),
            (Variant::Std, "YT8-PmJ-", 3),
            (Variant::Std, "YQ", 0),
            (Variant::Std, "YWJjYQ", 4),
            (Variant::Std, "YQ=", 3),
            (Variant::Std, "YQ=x", 3),
            (Variant::Std, "=YQ=", 0),
            (Variant::RawStd, "YQ==", 2),
            (Variant::RawStd, "YWJjY", 4),
            (Variant::Std, "YWJj\u{e9}", 4),
        ] {
            assert_eq!(variant.decode(text.as_bytes()), Err(Corrupt(at)), "{variant:?} {text}");
        }
    }
}
