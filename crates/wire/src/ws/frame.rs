//! Frame headers (RFC 6455 5.2).
//!
//! Refuses what a header alone tells to be wrong, as soon as the byte that tells is there: reserved bits and opcodes,
//! long or fragmented control frames, a mask on the wrong side, lengths not written in the shortest way.

use super::{Role, Violation, mask};

/// Bytes of a header at most: two, a length of eight, a key of four.
pub(super) const MAX_HEADER: usize = 14;
/// Payload of a control frame at most.
pub(super) const MAX_CONTROL: usize = 125;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn of(bits: u8) -> Option<Opcode> {
        use Opcode::*;
        [Continuation, Text, Binary, Close, Ping, Pong].into_iter().find(|o| *o as u8 == bits)
    }

    pub(super) fn is_control(self) -> bool {
        self as u8 & 8 != 0
    }
}

/// A complete header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) fin: bool,
    /// The message is compressed.
    pub(super) compressed: bool,
    pub(super) opcode: Opcode,
    pub(super) key: Option<[u8; 4]>,
    /// Bytes of the payload.
    pub(super) len: u64,
    /// Bytes of the header itself.
    pub(super) size: usize,
}

/// Reads the header at the start of `bytes`; `None` when it is not complete. `reader` is who reads it.
pub(super) fn parse(bytes: &[u8], reader: Role, may_compress: bool) -> Result<Option<Header>, Violation> {
    let Some(&first) = bytes.first() else { return Ok(None) };
    let (fin, compressed) = (first & 0x80 != 0, first & 0x40 != 0);
    let Some(opcode) = Opcode::of(first & 0x0f) else {
        return Err(Violation::protocol("the frame has a reserved opcode"));
    };
    if first & 0x30 != 0 || compressed && !(may_compress && matches!(opcode, Opcode::Text | Opcode::Binary)) {
        return Err(Violation::protocol("the frame has a reserved bit set"));
    }
    if opcode.is_control() && !fin {
        return Err(Violation::protocol("a control frame is fragmented"));
    }
    let Some(&second) = bytes.get(1) else { return Ok(None) };
    let masked = second & 0x80 != 0;
    if masked != (reader == Role::Server) {
        return Err(Violation::protocol(if masked {
            "a server's frame is masked"
        } else {
            "a client's frame is not masked"
        }));
    }
    if opcode.is_control() && second & 0x7f > MAX_CONTROL as u8 {
        return Err(Violation::protocol("a control frame is longer than 125 bytes"));
    }
    let Some((len, at)) = length(bytes, second & 0x7f)? else { return Ok(None) };
    let key = match (masked, bytes.get(at..)) {
        (false, _) => None,
        (true, rest) => match rest.and_then(|rest| rest.first_chunk::<4>()) {
            Some(key) => Some(*key),
            None => return Ok(None),
        },
    };
    let size = at + if masked { 4 } else { 0 };
    Ok(Some(Header { fin, compressed, opcode, key, len, size }))
}

/// The length of the payload and where the header continues behind it.
fn length(bytes: &[u8], short: u8) -> Result<Option<(u64, usize)>, Violation> {
    let (len, at, least) = match short {
        126 => match bytes[2..].first_chunk::<2>() {
            Some(len) => (u64::from(u16::from_be_bytes(*len)), 4, 126),
            None => return Ok(None),
        },
        127 => match bytes[2..].first_chunk::<8>() {
            Some(len) => (u64::from_be_bytes(*len), 10, 1 << 16),
            None => return Ok(None),
        },
        short => (u64::from(short), 2, 0),
    };
    if len < least || len > i64::MAX as u64 {
        return Err(Violation::protocol("the frame's length is not written in the shortest way"));
    }
    Ok(Some((len, at)))
}

/// Appends a frame, masked with `key` if there is one.
pub(super) fn append(
    out: &mut Vec<u8>,
    opcode: Opcode,
    fin: bool,
    compressed: bool,
    key: Option<[u8; 4]>,
    payload: &[u8],
) {
    debug_assert!(!opcode.is_control() || fin && payload.len() <= MAX_CONTROL, "a control frame is short and whole");
    let (mut head, mut size) = ([0; MAX_HEADER], 2);
    head[0] = u8::from(fin) << 7 | u8::from(compressed) << 6 | opcode as u8;
    head[1] = u8::from(key.is_some()) << 7;
    match payload.len() {
        len @ 0..126 => head[1] |= len as u8,
        len @ 126..=0xffff => {
            head[1] |= 126;
            head[2..4].copy_from_slice(&(len as u16).to_be_bytes());
            size = 4;
        }
        len => {
            head[1] |= 127;
            head[2..10].copy_from_slice(&(len as u64).to_be_bytes());
            size = 10;
        }
    }
    if let Some(key) = key {
        head[size..size + 4].copy_from_slice(&key);
        size += 4;
    }
    out.reserve(size + payload.len());
    out.extend_from_slice(&head[..size]);
    match key {
        Some(key) => mask::append(out, payload, key, 0),
        None => out.extend_from_slice(payload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for len in [0, 1, 125, 126, 127, 65535, 65536, 100_000] {
            for (key, reader) in [(None, Role::Client), (Some([9, 8, 7, 6]), Role::Server)] {
                let payload = vec![7; len];
                let mut out = Vec::new();
                append(&mut out, Opcode::Binary, true, false, key, &payload);
                let header = parse(&out, reader, false).unwrap().unwrap();
                let expected = Header {
                    fin: true,
                    compressed: false,
                    opcode: Opcode::Binary,
                    key,
                    len: len as u64,
                    size: header.size,
                };
                assert_eq!((header, header.size + len), (expected, out.len()));
                for cut in 0..header.size {
                    assert_eq!(parse(&out[..cut], reader, false), Ok(None), "{len} cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn refused_by_the_first_byte_that_tells() {
        let table: &[(&[u8], &str)] = &[
            (b"\x83", "the frame has a reserved opcode"),
            (b"\xc1", "the frame has a reserved bit set"),
            (b"\xa1", "the frame has a reserved bit set"),
            (b"\x91", "the frame has a reserved bit set"),
            (b"\x09", "a control frame is fragmented"),
            (b"\x89\x7e", "a control frame is longer than 125 bytes"),
            (b"\x81\x81", "a server's frame is masked"),
            (b"\x81\x7e\x00\x7d", "the frame's length is not written in the shortest way"),
            (b"\x81\x7f\0\0\0\0\0\0\xff\xff", "the frame's length is not written in the shortest way"),
            (b"\x81\x7f\x80\0\0\0\0\0\0\0", "the frame's length is not written in the shortest way"),
        ];
        for (bytes, message) in table {
            assert_eq!(parse(bytes, Role::Client, false), Err(Violation::protocol(message)), "{bytes:02x?}");
        }
        assert_eq!(parse(b"\x81\x01", Role::Server, false), Err(Violation::protocol("a client's frame is not masked")));
    }

    #[test]
    fn only_the_first_frame_of_a_message_says_that_it_is_compressed() {
        assert!(parse(b"\xc1\x01", Role::Client, true).unwrap().is_some_and(|h| h.compressed));
        for first in [0xc0, 0xc8, 0xc9, 0xca] {
            assert!(parse(&[first, 0], Role::Client, true).is_err(), "{first:x}");
        }
    }
}
