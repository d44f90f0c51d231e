//! HPACK's Huffman code (RFC 7541, appendix B).
//!
//! The code is canonical: codes of one length follow each other in the order of their symbols, and longer codes follow
//! shorter ones. So the lengths alone, 257 numbers, say all of it.

/// The length of each byte's code in bits, and that of the end of string.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20,
    22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28,
    27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28,
    27, 27, 27, 27, 27, 26, 30,
];
const LONGEST: usize = 30;
/// The end of string, which never is in a string.
const END: u16 = 256;

struct Code {
    codes: [u32; 257],
    /// The symbols in the order of their codes.
    symbols: [u16; 257],
    /// Of each length: its first code, and where in `symbols` that stands.
    firsts: [u32; LONGEST + 2],
    starts: [u16; LONGEST + 2],
    /// Symbol and length of the code that a byte begins with; a length of 0 where it is longer than a byte.
    short: [(u8, u8); 256],
}

static CODE: Code = make();

const fn make() -> Code {
    let mut code = Code {
        codes: [0; 257],
        symbols: [0; 257],
        firsts: [0; LONGEST + 2],
        starts: [0; LONGEST + 2],
        short: [(0, 0); 256],
    };
    let (mut next, mut at, mut length) = (0u32, 0, 1);
    while length <= LONGEST {
        code.firsts[length] = next;
        code.starts[length] = at as u16;
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS[symbol] as usize == length {
                code.codes[symbol] = next;
                code.symbols[at] = symbol as u16;
                if length <= 8 {
                    let mut byte = (next as usize) << (8 - length);
                    while byte < (next as usize + 1) << (8 - length) {
                        code.short[byte] = (symbol as u8, length as u8);
                        byte += 1;
                    }
                }
                next += 1;
                at += 1;
            }
            symbol += 1;
        }
        next <<= 1;
        length += 1;
    }
    code.starts[LONGEST + 1] = 257;
    code
}

/// Appends what the code stands for; `None` when it is none.
pub(super) fn decode(input: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // The bits that are not decoded yet stand at the top; below them ones, as a string is padded.
    let (mut bits, mut have, mut rest) = (u64::MAX, 0u32, input);
    loop {
        while have <= 56
            && let Some((byte, others)) = rest.split_first()
        {
            bits &= !(0xff << (56 - have)) | u64::from(*byte) << (56 - have);
            have += 8;
            rest = others;
        }
        let (symbol, length) = match CODE.short[(bits >> 56) as usize] {
            (_, 0) => long(bits)?,
            (symbol, length) => (u16::from(symbol), u32::from(length)),
        };
        if symbol == END || length > have {
            // The padding is shorter than a byte and all ones (RFC 7541 5.2).
            return (have < 8 && bits == u64::MAX).then_some(());
        }
        out.push(symbol as u8);
        bits = bits << length | !(u64::MAX << length);
        have -= length;
    }
}

/// The code of more than eight bits at the top.
fn long(bits: u64) -> Option<(u16, u32)> {
    (9..=LONGEST).find_map(|length| {
        let from_first = ((bits >> (64 - length)) as u32).checked_sub(CODE.firsts[length])?;
        let count = u32::from(CODE.starts[length + 1] - CODE.starts[length]);
        let at = u32::from(CODE.starts[length]) + from_first;
        (from_first < count).then(|| (CODE.symbols[at as usize], length as u32))
    })
}

/// How many bytes the code of these bytes has.
pub(super) fn encoded_len(input: &[u8]) -> usize {
    input.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum::<usize>().div_ceil(8)
}

/// Appends the code of these bytes.
pub(super) fn encode(input: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut have) = (0u64, 0u32);
    for byte in input {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.codes[usize::from(*byte)]);
        have += length;
        while have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    debug_assert!(have < 8, "whole bytes are out: {have} bits are left");
    if have > 0 {
        out.push((bits << (8 - have)) as u8 | 0xff >> have);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(input: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(input, &mut out).map(|()| out)
    }

    #[test]
    fn the_examples_of_the_rfc_read_and_write_the_same() {
        // RFC 7541, C.4.1, C.4.2, C.6.1.
        let rows: [(&str, &[u8]); 3] = [
            ("www.example.com", b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"),
            ("no-cache", b"\xa8\xeb\x10\x64\x9c\xbf"),
            ("302", b"\x64\x02"),
        ];
        for (text, code) in rows {
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            assert_eq!((out.as_slice(), encoded_len(text.as_bytes())), (code, code.len()));
            assert_eq!(decoded(code).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn every_pair_of_bytes_comes_back() {
        for a in 0..=255 {
            for b in 0..=255 {
                let mut code = Vec::new();
                encode(&[a, b, a], &mut code);
                assert_eq!(decoded(&code).unwrap(), [a, b, a]);
            }
        }
    }

    #[test]
    fn bad_padding_and_the_end_of_string_are_refused() {
        assert_eq!(decoded(b"").unwrap(), b"");
        for code in [&b"\xff"[..], b"\xff\xff\xff\xff", b"\x00", b"\x07\xff", b"\xff\xff\xff\xfc"] {
            assert_eq!(decoded(code), None, "{code:x?}");
        }
    }
}
