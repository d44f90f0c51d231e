//! HPACK's readers for `cargo xtask fuzz`.

use super::hpack_decode::FieldDecoder;
use super::huffman;

/// What is encoded comes back; what decodes is the code of what it decodes to, because the code is canonical.
pub(crate) fn huffman(input: &[u8]) -> Result<(), String> {
    let (mut coded, mut plain) = (Vec::new(), Vec::new());
    huffman::encode(input, &mut coded);
    if huffman::decode(&coded, &mut plain).is_none() || plain != input {
        return Err(format!("{input:?} is encoded as {coded:?}, which decodes to {plain:?}"));
    }
    plain.clear();
    if huffman::decode(input, &mut plain).is_some() {
        coded.clear();
        huffman::encode(&plain, &mut coded);
        if coded != input {
            return Err(format!("{input:?} decodes to {plain:?}, which is encoded as {coded:?}"));
        }
    }
    Ok(())
}

/// Two blocks of one connection, cut where the first byte says; the second may refer to fields of the first.
pub(crate) fn fields(input: &[u8]) -> Result<(), String> {
    let Some((&cut, blocks)) = input.split_first() else { return Ok(()) };
    let (first, second) = blocks.split_at(usize::from(cut).min(blocks.len()));
    let read = || {
        let (mut decoder, mut seen) = (FieldDecoder::new(), Vec::new());
        for block in [first, second] {
            let read = decoder.decode(block, |name, value| seen.push((name.to_vec(), value.to_vec())));
            if read.is_err() {
                break;
            }
        }
        seen
    };
    if read() == read() { Ok(()) } else { Err(String::from("two decoders read the same blocks differently")) }
}
