//! The mask of client frames (RFC 6455 5.3): xor with a key of four bytes, over and over.
//!
//! Eight bytes a step, which the compiler makes into vector instructions.
//! Invariant: applying it twice with the same key and offset gives the bytes back.

/// Masks or unmasks `data`, whose first byte is the one at `offset` of the frame's payload.
pub(super) fn apply(data: &mut [u8], key: [u8; 4], offset: usize) {
    let key = u32::from_le_bytes(key).rotate_right(8 * (offset as u32 % 4));
    let wide = u64::from(key) << 32 | u64::from(key);
    let mut steps = data.chunks_exact_mut(8);
    for step in &mut steps {
        let bytes: &mut [u8; 8] = step.try_into().expect("the chunks have eight bytes");
        *bytes = (u64::from_le_bytes(*bytes) ^ wide).to_le_bytes();
    }
    for (byte, key) in steps.into_remainder().iter_mut().zip(wide.to_le_bytes()) {
        *byte ^= key;
    }
}

/// Appends `data` to `out`, masked.
pub(super) fn append(out: &mut Vec<u8>, data: &[u8], key: [u8; 4], offset: usize) {
    let start = out.len();
    out.extend_from_slice(data);
    apply(&mut out[start..], key, offset);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_offset() {
        let key = [1, 2, 4, 128];
        let data: Vec<u8> = (0..67).collect();
        for len in 0..data.len() {
            for offset in 0..9 {
                let expected: Vec<u8> =
                    data[..len].iter().enumerate().map(|(i, b)| b ^ key[(i + offset) % 4]).collect();
                let mut masked = vec![];
                append(&mut masked, &data[..len], key, offset);
                assert_eq!(masked, expected, "{len} bytes from {offset} on");
                apply(&mut masked, key, offset);
                assert_eq!(masked, &data[..len]);
            }
        }
    }
}
