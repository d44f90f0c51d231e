//! Heads of frames (RFC 9113 4.1), and the frames that a client writes.

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const WITH_PRIORITY: u8 = 32;

pub(super) const HEADER_TABLE_SIZE: u16 = 1;
pub(super) const ENABLE_PUSH: u16 = 2;
pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_FRAME_SIZE: u16 = 5;
pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;

/// Bytes of a frame's head.
pub(super) const HEAD: usize = 9;
/// What a connection begins with.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The size of a frame's payload that everybody has to take, and the largest that this side takes.
pub(super) const DEFAULT_MAX_FRAME: usize = 16_384;
/// The window that everybody begins with.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;

/// What a frame is and how long its payload is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameHead {
    pub(super) len: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl FrameHead {
    pub(super) fn read(bytes: &[u8; HEAD]) -> FrameHead {
        let [a, b, c, kind, flags, d, e, f, g] = *bytes;
        FrameHead {
            len: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes([d, e, f, g]) & (u32::MAX >> 1),
        }
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

pub(super) fn push_head(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, len: usize) {
    debug_assert!(len < 1 << 24 && stream <= u32::MAX >> 1, "{len} bytes on stream {stream}");
    let [_, a, b, c] = (len as u32).to_be_bytes();
    let [d, e, f, g] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags, d, e, f, g]);
}

/// A frame whose payload is one number: RST_STREAM, WINDOW_UPDATE.
pub(super) fn push_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    debug_assert!(kind != WINDOW_UPDATE || (1..=u32::MAX >> 1).contains(&number), "a window opens by {number}");
    push_head(out, kind, 0, stream, 4);
    out.extend_from_slice(&number.to_be_bytes());
}

pub(super) fn push_setting(out: &mut Vec<u8>, id: u16, value: u32) {
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(&value.to_be_bytes());
}

/// The payload without its padding, of which a first byte tells the length; `None` when that cannot be.
pub(super) fn unpadded(is_padded: bool, payload: &[u8]) -> Option<&[u8]> {
    if !is_padded {
        return Some(payload);
    }
    let (padding, rest) = payload.split_first()?;
    rest.len().checked_sub(usize::from(*padding)).map(|len| &rest[..len])
}
