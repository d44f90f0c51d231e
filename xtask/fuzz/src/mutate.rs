//! Inputs out of examples: a seeded generator that cuts, repeats, splices and spoils.
//!
//! The same seed and the same number of a case give the same input, on every machine. Knows nothing of the formats but
//! their examples and words.

use fastrand::Rng;

/// Longest input made.
const LONGEST: usize = 64 << 10;
/// Numbers that overflow, underflow or round.
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1e309",
    "1e-400",
    "NaN",
    "Infinity",
    "9007199254740993",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0x7fffffff",
    "00000000000000000000000000000000000001",
];
/// Bytes and characters that parsers trip over.
const ODD: [&[u8]; 12] = [
    b"\0",
    b"\r\n",
    b"\n",
    b"\xff",
    b"\xc3\x28",
    "é".as_bytes(),
    "\u{202e}".as_bytes(),
    "𝒳".as_bytes(),
    "\u{feff}".as_bytes(),
    b"\\",
    b"\"",
    b"%",
];

/// The input of one case.
pub fn input(rng: &mut Rng, examples: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = rng.choice(examples).cloned().unwrap_or_default();
    // Few changes mostly: what is broken everywhere is refused at the first byte.
    let changes = 1 + rng.usize(..4) * rng.usize(..4);
    for _ in 0..changes {
        change(rng, &mut bytes, examples, words);
        bytes.truncate(LONGEST);
    }
    bytes
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>, examples: &[Vec<u8>], words: &[&str]) {
    let at = rng.usize(..=bytes.len());
    match rng.u8(..10) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.u8(..8);
            }
        }
        1 => insert(bytes, at, &[rng.u8(..)]),
        2 => insert(bytes, at, rng.choice(ODD).unwrap_or_default()),
        3 => insert(bytes, at, rng.choice(words).map_or(&[][..], |word| word.as_bytes())),
        4 => drop(bytes.drain(range(rng, bytes.len()))),
        5 => {
            let copy = bytes[range(rng, bytes.len())].repeat(1 + rng.usize(..40));
            insert(bytes, at, &copy);
        }
        6 => {
            let other = rng.choice(examples).map_or(&[][..], Vec::as_slice);
            insert(bytes, at, &other[range(rng, other.len())]);
        }
        7 => number(rng, bytes),
        8 => bytes.truncate(at),
        _ => {
            let part: Vec<u8> = bytes.drain(range(rng, bytes.len())).collect();
            let to = rng.usize(..=bytes.len());
            insert(bytes, to, &part);
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    let at = at.min(bytes.len());
    bytes.splice(at..at, part.iter().copied());
}

/// A part of something of this length; short ones mostly.
fn range(rng: &mut Rng, length: usize) -> std::ops::Range<usize> {
    let start = rng.usize(..=length);
    let most = if rng.bool() { 8 } else { length };
    start..start + rng.usize(..=most.min(length - start))
}

/// Puts an extreme number in the place of one that is there.
fn number(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[*at - 1].is_ascii_digit()))
        .collect();
    let Some(start) = rng.choice(starts) else { return };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..start + length, rng.choice(NUMBERS).unwrap_or_default().bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_inputs() {
        let make = || {
            let mut rng = Rng::with_seed(7);
            (0..500).map(|_| input(&mut rng, &[b"p(95)<500".to_vec(), Vec::new()], &["rate"])).collect::<Vec<_>>()
        };
        assert_eq!(make(), make());
        let inputs = make();
        assert!(inputs.iter().any(|input| input.windows(4).any(|part| part == b"rate")));
        assert!(inputs.iter().all(|input| input.len() <= LONGEST));
    }
}
