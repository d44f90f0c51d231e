//! Blocks of fields as HPACK writes them (RFC 7541 6).

use super::dynamic_table::{DynamicTable, Named};
use super::{huffman, static_table};

/// The largest table that this side keeps for the other: the size that everybody begins with.
const MAX_TABLE: usize = 4096;

/// What is known of the fields that came on a connection.
pub(super) struct FieldDecoder {
    table: DynamicTable,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// A block that nobody can decode: the two sides have lost each other, and the connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Undecodable;

impl FieldDecoder {
    pub(super) fn new() -> FieldDecoder {
        FieldDecoder { table: DynamicTable::new(MAX_TABLE), name: Vec::new(), value: Vec::new() }
    }

    /// While this stays, a block stands for what it stood for.
    pub(super) fn changes(&self) -> u64 {
        self.table.changes()
    }

    /// Gives each field of a block to the taker.
    pub(super) fn decode(&mut self, block: &[u8], mut take: impl FnMut(&[u8], &[u8])) -> Result<(), Undecodable> {
        let FieldDecoder { table, name, value } = self;
        let (mut input, mut has_fields) = (block, false);
        while let Some(first) = input.first() {
            if *first & 0x80 != 0 {
                let (known, content) = field(table, read_number(&mut input, 7)?)?;
                take(known, content);
            } else if *first & 0xe0 == 0x20 {
                // Only in front of the fields (RFC 7541 4.2).
                let max = read_number(&mut input, 5)?;
                if has_fields || max > MAX_TABLE {
                    return Err(Undecodable);
                }
                table.resize(max);
                continue;
            } else {
                let is_kept = *first & 0x40 != 0;
                let index = read_number(&mut input, if is_kept { 6 } else { 4 })?;
                let named: &[u8] = match index {
                    0 => read_text(&mut input, name)?,
                    index => field(table, index)?.0,
                };
                let content = read_text(&mut input, value)?;
                take(named, content);
                if is_kept {
                    // Owned: the name may be that of a field which leaves the table for it.
                    let entry = Named::new(named, content);
                    table.insert(entry);
                }
            }
            has_fields = true;
        }
        Ok(())
    }
}

fn field(table: &DynamicTable, index: usize) -> Result<(&[u8], &[u8]), Undecodable> {
    let at = index.checked_sub(1).ok_or(Undecodable)?;
    match static_table::FIELDS.get(at) {
        Some((name, value)) => Ok((name.as_bytes(), value.as_bytes())),
        None => table.get(at - static_table::FIELDS.len()).ok_or(Undecodable),
    }
}

/// A number that begins in the last bits of a byte (RFC 7541 5.1).
fn read_number(input: &mut &[u8], bits: u32) -> Result<usize, Undecodable> {
    let mut next = || input.split_off_first().copied().ok_or(Undecodable);
    let most = (1usize << bits) - 1;
    let mut number = usize::from(next()?) & most;
    if number < most {
        return Ok(number);
    }
    // No block is as long as four of these could say.
    for shift in [0, 7, 14, 21] {
        let byte = next()?;
        number += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Undecodable)
}

fn read_text<'r, 't: 'r>(input: &mut &'t [u8], room: &'r mut Vec<u8>) -> Result<&'r [u8], Undecodable> {
    let is_coded = input.first().ok_or(Undecodable)? & 0x80 != 0;
    let length = read_number(input, 7)?;
    let text = input.split_off(..length).ok_or(Undecodable)?;
    if !is_coded {
        return Ok(text);
    }
    room.clear();
    huffman::decode(text, room).ok_or(Undecodable)?;
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(decoder: &mut FieldDecoder, block: &[u8]) -> Result<String, Undecodable> {
        let mut text = String::new();
        decoder.decode(block, |name, value| {
            text += &format!("{}={};", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
        })?;
        Ok(text)
    }

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        // RFC 7541, C.4: three requests on one connection.
        let mut decoder = FieldDecoder::new();
        let first = b"\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff";
        let base = ":method=GET;:scheme=http;:path=/;:authority=www.example.com;";
        assert_eq!(decoded(&mut decoder, first).unwrap(), base);
        let second = b"\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf";
        assert_eq!(decoded(&mut decoder, second).unwrap(), format!("{base}cache-control=no-cache;"));
        let third = b"\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf";
        assert_eq!(
            decoded(&mut decoder, third).unwrap(),
            ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;custom-key=custom-value;"
        );
    }

    #[test]
    fn a_name_of_a_field_that_leaves_the_table_is_still_a_name() {
        let mut decoder = FieldDecoder::new();
        let long = |at: u8| [&[0x40, 1, b'a' + at, 0x7f, 0x81, 0x0f][..], &[b'v'; 2048]].concat();
        decoded(&mut decoder, &long(0)).unwrap();
        // The second field takes its name from the first, which has to go for it.
        let next = [&[0x7e, 0x7f, 0x81, 0x0f][..], &[b'w'; 2048]].concat();
        assert!(decoded(&mut decoder, &next).unwrap().starts_with("a=www"));
        assert!(decoded(&mut decoder, &[0xbe]).unwrap().starts_with("a=www"));
        assert_eq!(decoded(&mut decoder, &[0xbf]), Err(Undecodable));
    }

    #[test]
    fn what_breaks_off_or_points_nowhere_is_refused() {
        for block in
            [&b"\x80"[..], b"\xff", b"\xff\xff\xff\xff\xff\x01", b"\xbe", b"\x40\x01", b"\x3f\xe2\x1f", b"\x82\x20"]
        {
            assert_eq!(decoded(&mut FieldDecoder::new(), block), Err(Undecodable), "{block:x?}");
        }
    }
}
