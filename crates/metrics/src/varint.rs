//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first; the top bit says that more follow.

/// Appends a number.
pub(crate) fn write(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The next number, which the bytes then begin behind; `None`: it is cut, or wider than 128 bits.
#[inline]
pub(crate) fn read(bytes: &mut &[u8]) -> Option<u128> {
    let (first, rest) = bytes.split_first()?;
    if *first < 0x80 {
        *bytes = rest;
        return Some((*first).into());
    }
    // Nearly all have room here, and what is wider costs twice as much.
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return Some(number.into());
        }
    }
    read_wide(bytes)
}

// Cold: ten bytes and more hold a number beyond 63 bits.
#[cold]
fn read_wide(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0_u128;
    for (at, byte) in bytes.iter().take(19).enumerate() {
        let part = u128::from(byte & 0x7f);
        let shifted = part << (7 * at);
        if shifted >> (7 * at) != part {
            return None;
        }
        number |= shifted;
        if *byte < 0x80 {
            *bytes = &bytes[at + 1..];
            return Some(number);
        }
    }
    None
}

/// A number whose lowest bit is the sign, so that small negative ones are small, too.
pub(crate) fn zigzag(number: i128) -> u128 {
    let packed = (number << 1 ^ number >> (i128::BITS - 1)) as u128;
    debug_assert_eq!(unzigzag(packed), number, "the reader finds what was written");
    packed
}

/// What `zigzag` made it of.
pub(crate) fn unzigzag(number: u128) -> i128 {
    (number >> 1) as i128 ^ -((number & 1) as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut bytes = Vec::new();
        let numbers: Vec<u128> = (0..128).flat_map(|bit| [1 << bit, (1 << bit) - 1, u128::MAX >> bit]).collect();
        numbers.iter().for_each(|number| write(&mut bytes, *number));
        let mut rest = bytes.as_slice();
        assert!(numbers.iter().all(|number| read(&mut rest) == Some(*number)));
        assert!(rest.is_empty());
    }

    #[test]
    fn what_is_cut_or_too_wide_is_refused() {
        for bytes in [&[][..], &[0x80], &[0xff; 8], &[0xff; 30]] {
            assert_eq!(read(&mut &*bytes), None, "{bytes:?}");
        }
        let mut wide = vec![0xff; 18];
        wide.push(0x07);
        assert_eq!(read(&mut wide.as_slice()), None);
        *wide.last_mut().expect("19 bytes") = 0x03;
        assert_eq!(read(&mut wide.as_slice()), Some(u128::MAX));
    }

    #[test]
    fn signs_are_the_lowest_bit() {
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        for number in [0, 1, -1, i128::MAX, i128::MIN, 1 << 90] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
    }
}
