//! Frames of one direction as they pass, for people who debug: of the bytes on the wire, each frame's header and
//! the beginning of its payload, unmasked.
//!
//! It reads beside decoder and encoder, so that a frame is seen as it was sent: fragments one by one, compressed
//! payloads compressed. Where the peer breaks the protocol it sees nothing further. Costs nothing where it is off.

use std::rc::Rc;

use super::frame::{self, Header, MAX_HEADER, Opcode};
use super::{Role, mask};

/// Bytes of a payload that are shown at most.
const BEGINNING: usize = 128;

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameDirection {
    /// From this client, when it was queued.
    Sent,
    /// To this client.
    Received,
}

/// A frame that has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassingFrame {
    /// Which way it went.
    pub direction: FrameDirection,
    /// Its opcode, by the name of RFC 6455: `text`, `binary`, `continuation`, `close`, `ping`, `pong`.
    pub opcode: &'static str,
    /// Whether the message ends with it.
    pub fin: bool,
    /// Whether its message is compressed.
    pub compressed: bool,
    /// Bytes of its payload.
    pub size: u64,
    /// The first of them.
    pub beginning: Vec<u8>,
}

/// Sees the frames of a connection.
pub trait FrameWatch {
    /// A frame has passed.
    fn passed(&self, frame: &PassingFrame);
}

/// Both directions of a connection.
pub(crate) struct PassingFrames {
    watch: Rc<dyn FrameWatch>,
    sent: FrameSplitter,
    received: FrameSplitter,
}

impl PassingFrames {
    pub(crate) fn new(watch: Rc<dyn FrameWatch>) -> PassingFrames {
        let sent = FrameSplitter::new(FrameDirection::Sent);
        PassingFrames { watch, sent, received: FrameSplitter::new(FrameDirection::Received) }
    }

    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        self.sent.feed(bytes, &*self.watch);
    }

    pub(crate) fn received(&mut self, bytes: &[u8]) {
        self.received.feed(bytes, &*self.watch);
    }
}

/// Finds the frames of one direction.
struct FrameSplitter {
    direction: FrameDirection,
    /// Of a header that has not come in full.
    head: Vec<u8>,
    /// The frame that passes, and how many bytes of it are still to come.
    frame: Option<(Header, u64)>,
    beginning: Vec<u8>,
    /// Whether the message that passes is compressed: only its first frame says so.
    is_compressed: bool,
    is_broken: bool,
}

impl FrameSplitter {
    fn new(direction: FrameDirection) -> FrameSplitter {
        let (head, beginning) = (Vec::new(), Vec::new());
        FrameSplitter { direction, head, frame: None, beginning, is_compressed: false, is_broken: false }
    }

    fn feed(&mut self, mut bytes: &[u8], watch: &dyn FrameWatch) {
        while !self.is_broken && (self.frame.is_some() || !bytes.is_empty()) {
            match self.frame.take() {
                None => self.read_head(&mut bytes),
                Some((header, left)) => {
                    let here = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let wanted = here.min(BEGINNING - self.beginning.len());
                    self.beginning.extend_from_slice(&bytes[..wanted]);
                    bytes = &bytes[here..];
                    match left - here as u64 {
                        0 => self.show(&header, watch),
                        left => {
                            self.frame = Some((header, left));
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Takes bytes for a header; the rest of what it took is given back.
    fn read_head(&mut self, bytes: &mut &[u8]) {
        let reader = if self.direction == FrameDirection::Sent { Role::Server } else { Role::Client };
        let known = self.head.len();
        let taken = bytes.len().min(MAX_HEADER - known);
        self.head.extend_from_slice(&bytes[..taken]);
        match frame::parse(&self.head, reader, true) {
            Ok(Some(header)) => {
                *bytes = &bytes[header.size - known..];
                self.head.clear();
                self.frame = Some((header, header.len));
            }
            Ok(None) => *bytes = &bytes[taken..],
            Err(_) => self.is_broken = true,
        }
    }

    fn show(&mut self, header: &Header, watch: &dyn FrameWatch) {
        let mut beginning = std::mem::take(&mut self.beginning);
        if let Some(key) = header.key {
            mask::apply(&mut beginning, key, 0);
        }
        if matches!(header.opcode, Opcode::Text | Opcode::Binary) {
            self.is_compressed = header.compressed;
        }
        watch.passed(&PassingFrame {
            direction: self.direction,
            opcode: name(header.opcode),
            fin: header.fin,
            compressed: self.is_compressed && !header.opcode.is_control(),
            size: header.len,
            beginning,
        });
    }
}

fn name(opcode: Opcode) -> &'static str {
    match opcode {
        Opcode::Continuation => "continuation",
        Opcode::Text => "text",
        Opcode::Binary => "binary",
        Opcode::Close => "close",
        Opcode::Ping => "ping",
        Opcode::Pong => "pong",
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[derive(Default)]
    struct Seen(RefCell<Vec<PassingFrame>>);

    impl FrameWatch for Seen {
        fn passed(&self, frame: &PassingFrame) {
            self.0.borrow_mut().push(frame.clone());
        }
    }

    /// The frames of these bytes, fed in pieces of this size.
    fn seen(direction: FrameDirection, bytes: &[u8], piece: usize) -> Vec<(&'static str, bool, bool, u64, Vec<u8>)> {
        let (mut splitter, seen) = (FrameSplitter::new(direction), Seen::default());
        bytes.chunks(piece).for_each(|piece| splitter.feed(piece, &seen));
        let frames = seen.0.into_inner();
        assert!(frames.iter().all(|frame| frame.direction == direction));
        let plain = |frame: PassingFrame| (frame.opcode, frame.fin, frame.compressed, frame.size, frame.beginning);
        frames.into_iter().map(plain).collect()
    }

    #[test]
    fn frames_are_found_however_they_come() {
        let long = vec![b'x'; 70_000];
        for (direction, key) in [(FrameDirection::Sent, Some([1, 2, 3, 4])), (FrameDirection::Received, None)] {
            let mut bytes = Vec::new();
            frame::append(&mut bytes, Opcode::Text, false, false, key, b"hel");
            frame::append(&mut bytes, Opcode::Ping, true, false, key, b"");
            frame::append(&mut bytes, Opcode::Continuation, true, false, key, b"lo");
            frame::append(&mut bytes, Opcode::Binary, false, true, key, &long);
            frame::append(&mut bytes, Opcode::Pong, true, false, key, b"p");
            frame::append(&mut bytes, Opcode::Continuation, true, false, key, b"x");
            frame::append(&mut bytes, Opcode::Close, true, false, key, b"\x03\xe8");
            let expected = vec![
                ("text", false, false, 3, b"hel".to_vec()),
                ("ping", true, false, 0, Vec::new()),
                ("continuation", true, false, 2, b"lo".to_vec()),
                ("binary", false, true, 70_000, vec![b'x'; BEGINNING]),
                ("pong", true, false, 1, b"p".to_vec()),
                ("continuation", true, true, 1, b"x".to_vec()),
                ("close", true, false, 2, b"\x03\xe8".to_vec()),
            ];
            for piece in [1, 2, 3, 7, 1_000, bytes.len()] {
                assert_eq!(seen(direction, &bytes, piece), expected, "{direction:?} by {piece}");
            }
        }
    }

    #[test]
    fn nothing_is_seen_behind_a_frame_that_is_none() {
        let mut bytes = Vec::new();
        frame::append(&mut bytes, Opcode::Ping, true, false, None, b"a");
        bytes.extend_from_slice(b"\x83\x00\x89\x00");
        assert_eq!(seen(FrameDirection::Received, &bytes, bytes.len()).len(), 1);
    }
}
