//! From messages to frames: each message is one frame, masked by a client, compressed where that was agreed on.
//!
//! Appends to a buffer of the caller's: many messages leave in one write. Refuses control frames that are too long by
//! cutting nothing: callers check. Invariant: `Shared` bytes are the same for every uncompressed connection of a
//! server.

use std::cell::Cell;

use bytes::Bytes;

use super::close::{self, CloseReason};
use super::deflate::Deflater;
use super::extension::DeflateParams;
use super::frame::{self, MAX_CONTROL, Opcode};
use super::{Kind, Role};

thread_local!(static COMPRESSED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) });

/// Compressed bytes kept for the next message at most.
const MOST_SPARE: usize = 1 << 20;

/// Writes the frames of one connection.
#[derive(Debug)]
pub struct Encoder {
    masks: bool,
    deflater: Option<Deflater>,
}

/// A message that goes to many connections of a server: encoded once for those that do not compress.
#[derive(Clone, Debug)]
pub struct Shared {
    /// What it is made of.
    pub kind: Kind,
    /// The message.
    pub payload: Bytes,
    frame: Bytes,
}

impl Shared {
    /// A message to send to many.
    pub fn new(kind: Kind, payload: &[u8]) -> Shared {
        let mut frame = Vec::new();
        frame::append(&mut frame, opcode(kind), true, false, None, payload);
        let frame = Bytes::from(frame);
        Shared { kind, payload: frame.slice(frame.len() - payload.len()..), frame }
    }
}

fn opcode(kind: Kind) -> Opcode {
    match kind {
        Kind::Text => Opcode::Text,
        Kind::Binary => Opcode::Binary,
    }
}

/// Masks keep caches between browser and server from being fooled by chosen bytes (RFC 6455 10.3); nothing here is a
/// browser, so the thread's fast generator does.
fn key() -> [u8; 4] {
    fastrand::u32(..).to_le_bytes()
}

impl Encoder {
    /// For one end of a connection on which `deflate` was agreed on, if anything.
    pub fn new(role: Role, deflate: Option<DeflateParams>) -> Encoder {
        let deflater = deflate.map(|params| match role {
            Role::Client => Deflater::new(params.client_max_window_bits, !params.client_no_context_takeover),
            Role::Server => Deflater::new(params.server_max_window_bits, !params.server_no_context_takeover),
        });
        Encoder { masks: role == Role::Client, deflater }
    }

    /// Appends a message; the bytes of a text are UTF-8, as callers know.
    pub fn message(&mut self, out: &mut Vec<u8>, kind: Kind, payload: &[u8]) {
        let key = self.masks.then(key);
        let Some(deflater) = &mut self.deflater else {
            return frame::append(out, opcode(kind), true, false, key, payload);
        };
        let mut compressed = COMPRESSED.take();
        compressed.clear();
        deflater.compress(payload, &mut compressed);
        frame::append(out, opcode(kind), true, true, key, &compressed);
        if compressed.capacity() <= MOST_SPARE {
            COMPRESSED.set(compressed);
        }
    }

    /// Appends a message that goes to others too.
    pub fn shared(&mut self, out: &mut Vec<u8>, message: &Shared) {
        if self.masks || self.deflater.is_some() {
            return self.message(out, message.kind, &message.payload);
        }
        out.extend_from_slice(&message.frame);
    }

    /// Appends a ping; 125 bytes at most.
    pub fn ping(&mut self, out: &mut Vec<u8>, payload: &[u8]) {
        self.control(out, Opcode::Ping, payload);
    }

    /// Appends a pong; 125 bytes at most.
    pub fn pong(&mut self, out: &mut Vec<u8>, payload: &[u8]) {
        self.control(out, Opcode::Pong, payload);
    }

    /// Appends a close frame; its reason is cut to what fits.
    pub fn close(&mut self, out: &mut Vec<u8>, reason: Option<CloseReason<'_>>) {
        let mut payload = Vec::new();
        if let Some(CloseReason { code, reason }) = reason {
            payload.extend_from_slice(&code.to_be_bytes());
            payload.extend_from_slice(&reason.as_bytes()[..reason.floor_char_boundary(close::MAX_REASON)]);
        }
        self.control(out, Opcode::Close, &payload);
    }

    fn control(&mut self, out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
        assert!(payload.len() <= MAX_CONTROL, "callers keep control frames within 125 bytes");
        frame::append(out, opcode, true, false, self.masks.then(key), payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_server() {
        let mut encoder = Encoder::new(Role::Server, None);
        let mut out = Vec::new();
        encoder.message(&mut out, Kind::Text, b"Hello");
        encoder.ping(&mut out, b"");
        encoder.close(&mut out, Some(CloseReason { code: 1000, reason: &"\u{e9}".repeat(100) }));
        encoder.shared(&mut out, &Shared::new(Kind::Binary, b"all"));
        let mut expected = b"\x81\x05Hello\x89\x00\x88\x7c\x03\xe8".to_vec();
        expected.extend_from_slice("\u{e9}".repeat(61).as_bytes());
        expected.extend_from_slice(b"\x82\x03all");
        assert_eq!(out, expected);
    }

    #[test]
    fn a_client_masks_with_a_new_key_each_time() {
        let mut encoder = Encoder::new(Role::Client, None);
        let mut out = Vec::new();
        encoder.message(&mut out, Kind::Text, b"Hello");
        encoder.message(&mut out, Kind::Text, b"Hello");
        assert_eq!((out.len(), out[1]), (22, 0x85));
        assert_ne!(out[2..6], out[13..17]);
    }
    #[test]
    fn control_frames_without_words_and_pongs() {
        let mut encoder = Encoder::new(Role::Server, Some(DeflateParams::default()));
        let mut out = Vec::new();
        encoder.pong(&mut out, b"p");
        encoder.close(&mut out, None);
        assert_eq!(out, b"\x8a\x01p\x88\x00", "control frames are never compressed (RFC 7692 6.1)");
    }

    #[test]
    fn a_shared_message_is_masked_by_a_client_and_compressed_where_that_was_agreed_on() {
        let message = Shared::new(Kind::Text, b"Hello");
        let first_bytes = |role, deflate| {
            let mut out = Vec::new();
            Encoder::new(role, deflate).shared(&mut out, &message);
            (out[0], out[1] & 0x80)
        };
        assert_eq!(message.payload, "Hello");
        assert_eq!(first_bytes(Role::Server, None), (0x81, 0));
        assert_eq!(first_bytes(Role::Client, None), (0x81, 0x80));
        assert_eq!(first_bytes(Role::Server, Some(DeflateParams::default())), (0xc1, 0));
        assert_eq!(first_bytes(Role::Client, Some(DeflateParams::default())), (0xc1, 0x80));
    }
    #[test]
    fn a_large_message_leaves_no_large_buffer_to_its_thread() {
        let kept = || {
            let buffer = COMPRESSED.take();
            let capacity = buffer.capacity();
            COMPRESSED.set(buffer);
            capacity
        };
        let noise: Vec<u8> = (0..2 << 20).map(|_| fastrand::u8(..)).collect();
        let mut encoder = Encoder::new(Role::Server, Some(DeflateParams::default()));
        encoder.message(&mut Vec::new(), Kind::Binary, &noise);
        assert_eq!(kept(), 0);
        encoder.message(&mut Vec::new(), Kind::Binary, &noise[..1000]);
        assert!((1000..=1 << 20).contains(&kept()), "{} bytes", kept());
    }
}
