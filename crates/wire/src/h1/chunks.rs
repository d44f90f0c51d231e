//! Chunked coding as it is written (RFC 9112 7.1). Reading it is the business of `body_decoder`.

use super::encode::response_field;

/// Appends one chunk; an empty one would end the body, so it appends nothing.
pub fn chunk(out: &mut Vec<u8>, data: &[u8]) {
    if !data.is_empty() {
        chunk_size(out, data.len());
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends the line before the data of a chunk, for data that is sent from where it is.
pub fn chunk_size(out: &mut Vec<u8>, size: usize) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut line = *b"................\r\n";
    let (mut at, mut rest) = (16, size);
    loop {
        at -= 1;
        line[at] = HEX[rest & 0xf];
        rest >>= 4;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&line[at..]);
}

/// Appends the end of a chunked body with its trailers.
pub fn last_chunk<'a>(out: &mut Vec<u8>, trailers: impl Iterator<Item = (&'a str, &'a [u8])>) {
    out.extend_from_slice(b"0\r\n");
    trailers.for_each(|(name, value)| response_field(out, name, value));
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks() {
        let mut out = Vec::new();
        chunk(&mut out, b"");
        chunk(&mut out, &[b'x'; 17]);
        last_chunk(&mut out, [("T", &b"v"[..])].into_iter());
        assert_eq!(out, b"11\r\nxxxxxxxxxxxxxxxxx\r\n0\r\nT: v\r\n\r\n");
        for size in [1, 15, 16, 255, 256, 0x1000, 0xfedc_ba98, usize::MAX] {
            let mut line = Vec::new();
            chunk_size(&mut line, size);
            assert_eq!(line, format!("{size:x}\r\n").into_bytes());
        }
    }
}
