//! Bytes of Protocol Buffers: varints, tags, and skipping what nobody asked for.

use crate::MAX_DEPTH;

/// How a field's value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    Varint,
    Fixed64,
    Bytes,
    Group,
    EndGroup,
    Fixed32,
}

impl WireType {
    fn of(number: u64) -> Option<WireType> {
        use WireType::*;
        [Varint, Fixed64, Bytes, Group, EndGroup, Fixed32].get(number as usize).copied()
    }
}

/// The tag of a field.
pub const fn tag(number: u32, wire: WireType) -> u64 {
    (number as u64) << 3 | wire as u64
}

/// Appends a varint.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small magnitudes, negative ones too, become small numbers.
pub fn zigzag(value: i64) -> u64 {
    let small = (value << 1 ^ value >> 63) as u64;
    debug_assert_eq!(unzigzag(small), value, "there is a way back");
    small
}

/// The way back.
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads bytes from a place on.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    pub fn is_done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            // The tenth byte has room for one bit.
            if shift == 63 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub fn tag(&mut self) -> Option<(u32, WireType)> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number))?;
        Some((number, WireType::of(tag & 7)?))
    }

    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    pub fn fixed32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn fixed64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub fn delimited(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        self.take(length)
    }

    /// The content of a group, whose opening tag was read.
    pub fn group(&mut self, number: u32) -> Option<&'a [u8]> {
        let from = self.at;
        self.skip_group(number, MAX_DEPTH)?;
        let mut end = self.at - 1;
        while self.bytes[end - 1] >= 0x80 {
            end -= 1;
        }
        self.bytes.get(from..end)
    }

    fn skip_group(&mut self, number: u32, depth: usize) -> Option<()> {
        loop {
            match self.tag()? {
                (ended, WireType::EndGroup) => return (ended == number).then_some(()),
                (field, wire) => self.skip(field, wire, depth.checked_sub(1)?)?,
            }
        }
    }

    /// Passes a value over.
    pub fn skip(&mut self, number: u32, wire: WireType, depth: usize) -> Option<()> {
        match wire {
            WireType::Varint => self.varint().map(drop),
            WireType::Fixed64 => self.take(8).map(drop),
            WireType::Fixed32 => self.take(4).map(drop),
            WireType::Bytes => self.delimited().map(drop),
            WireType::Group => self.skip_group(number, depth),
            WireType::EndGroup => None,
        }
    }
}
