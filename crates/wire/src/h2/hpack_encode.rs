//! Heads as HPACK writes them on one connection.
//!
//! The first time, the fields of a head go into the connection's table; from then on the head is a few indices. Those
//! are kept with the head's number, so that sending it once more is a copy. Invariant: what is kept was made with the
//! table as it is now.

use std::collections::VecDeque;

use super::dynamic_table::{DynamicTable, Named, size_of};
use super::huffman;
use super::request_head::{Http2Head, KeepField, SentField};
use super::static_table;

/// The largest table that this side fills, however large the peer's is.
const MAX_TABLE: usize = 4096;
/// Heads whose bytes are kept.
const KEPT: usize = 8;

/// What is known of the heads that went out on a connection.
pub(super) struct FieldEncoder {
    table: DynamicTable,
    /// The table's size changed: the next head says so first.
    is_resized: bool,
    kept: VecDeque<KeptBlock>,
}

struct KeptBlock {
    number: u64,
    changes: u64,
    block: Box<[u8]>,
}

impl FieldEncoder {
    pub(super) fn new() -> FieldEncoder {
        FieldEncoder { table: DynamicTable::new(MAX_TABLE), is_resized: false, kept: VecDeque::new() }
    }

    /// The peer allows a table of this size.
    pub(super) fn allow_table(&mut self, max: usize) {
        let max = max.min(MAX_TABLE);
        if max != self.table.max() {
            self.table.resize(max);
            self.is_resized = true;
        }
    }

    /// Appends the block of a head.
    pub(super) fn encode(&mut self, head: &Http2Head, out: &mut Vec<u8>) {
        let is_kept = |kept: &&KeptBlock| Some(kept.number) == head.number() && kept.changes == self.table.changes();
        if !self.is_resized
            && let Some(kept) = self.kept.iter().find(is_kept)
        {
            return out.extend_from_slice(&kept.block);
        }
        let (start, before) = (out.len(), self.table.changes());
        let was_resized = std::mem::take(&mut self.is_resized);
        if was_resized {
            push_number(out, 5, 0x20, self.table.max());
        }
        for field in head.fields() {
            self.push(&field, out);
        }
        if let Some(number) = head.number()
            && before == self.table.changes()
            && !was_resized
        {
            self.kept.retain(|kept| kept.number != number && kept.changes == before);
            self.kept.truncate(KEPT - 1);
            self.kept.push_front(KeptBlock { number, changes: before, block: out[start..].into() });
            debug_assert!(self.kept.len() <= KEPT, "{} heads are kept", self.kept.len());
        }
    }

    fn push(&mut self, field: &SentField<'_>, out: &mut Vec<u8>) {
        if field.index != 0 {
            return push_number(out, 7, 0x80, usize::from(field.index));
        }
        let behind_static = |at: usize| at + 1 + static_table::FIELDS.len();
        let (whole, of_name) = self.table.find(field.name, field.value);
        if let Some(at) = whole.filter(|_| field.keep == KeepField::Yes) {
            return push_number(out, 7, 0x80, behind_static(at));
        }
        let is_kept = field.keep == KeepField::Yes && size_of(field.name, field.value) <= self.table.max() / 2;
        let index_of_name = match field.index_of_name {
            0 => of_name.map_or(0, behind_static),
            index => usize::from(index),
        };
        match (is_kept, field.keep) {
            (true, _) => push_number(out, 6, 0x40, index_of_name),
            (_, KeepField::Never) => push_number(out, 4, 0x10, index_of_name),
            _ => push_number(out, 4, 0, index_of_name),
        }
        if index_of_name == 0 {
            push_text(out, field.name);
        }
        push_text(out, field.value);
        if is_kept {
            self.table.insert(Named::new(field.name, field.value));
        }
    }
}

/// A number that begins in the last bits of a byte, whose first bits are given (RFC 7541 5.1).
fn push_number(out: &mut Vec<u8>, bits: u32, first: u8, number: usize) {
    let most = (1usize << bits) - 1;
    debug_assert!(usize::from(first) & most == 0, "the first bits {first:#x} leave {bits} for the number");
    if number < most {
        return out.push(first | number as u8);
    }
    out.push(first | most as u8);
    let mut rest = number - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let coded = huffman::encoded_len(text);
    if coded < text.len() {
        push_number(out, 7, 0x80, coded);
        let start = out.len();
        huffman::encode(text, out);
        debug_assert_eq!(out.len() - start, coded, "a text is as long as was said in front of it");
    } else {
        push_number(out, 7, 0, text.len());
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::hpack_decode::FieldDecoder;
    use super::super::request_head::HeadBuilder;
    use super::*;

    fn head(is_constant: bool, path: &str, fields: &[(&str, &str)]) -> Http2Head {
        let mut builder = HeadBuilder::new(is_constant);
        builder.request(b"GET", "https", b"h.test", path.as_bytes()).unwrap();
        for (name, value) in fields {
            builder.field(name.as_bytes(), value.as_bytes()).unwrap();
        }
        builder.build()
    }

    fn encoded(encoder: &mut FieldEncoder, head: &Http2Head) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.encode(head, &mut out);
        out
    }

    fn decoded(decoder: &mut FieldDecoder, block: &[u8]) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decoder.decode(block, |name, value| fields.push((text(name), text(value)))).unwrap();
        fields
    }

    #[test]
    fn what_is_written_is_read_the_same_by_the_other_side() {
        let (mut encoder, mut decoder) = (FieldEncoder::new(), FieldDecoder::new());
        let long = "v".repeat(5000);
        for round in 0..40 {
            if round == 20 {
                encoder.allow_table(100);
            }
            if round == 30 {
                encoder.allow_table(0);
            }
            let path = format!("/{}", round % 3);
            let number = (round / 4).to_string();
            let fields = [("user-agent", "t"), ("x-a", &*number), ("Authorization", "secret"), ("x-long", &*long)];
            let block = encoded(&mut encoder, &head(round % 2 == 0, &path, &fields));
            let expected = [(":method", "GET"), (":scheme", "https"), (":authority", "h.test"), (":path", &*path)];
            let expected = expected.iter().chain(&fields).map(|(name, value)| (name.to_lowercase(), value.to_string()));
            assert_eq!(decoded(&mut decoder, &block), expected.collect::<Vec<_>>(), "round {round}");
        }
    }

    #[test]
    fn a_head_that_was_sent_is_a_few_bytes_and_keeps_its_meaning_when_the_table_changes() {
        let (mut encoder, mut decoder) = (FieldEncoder::new(), FieldDecoder::new());
        let (mine, other) = (head(true, "/mine", &[("x-a", "b")]), head(true, "/other", &[("x-c", "d")]));
        let first = decoded(&mut decoder, &encoded(&mut encoder, &mine));
        for _ in 0..3 {
            let block = encoded(&mut encoder, &mine);
            assert_eq!((block.len(), decoded(&mut decoder, &block)), (5, first.clone()));
        }
        decoded(&mut decoder, &encoded(&mut encoder, &other));
        assert_eq!(decoded(&mut decoder, &encoded(&mut encoder, &mine)), first);
    }

    #[test]
    fn secrets_stay_out_of_tables() {
        let mut encoder = FieldEncoder::new();
        let mut sent = |name: &str, value: &str| {
            let head = head(true, "/", &[(name, value)]);
            encoded(&mut encoder, &head);
            encoded(&mut encoder, &head)
        };
        assert!(sent("authorization", "Basic eDp5").len() > 8);
        assert!(sent("cookie", "id=1").len() > 6);
        assert_eq!(sent("x-id", "Basic eDp5").len(), 5);
    }
}
