//! The streams of a connection that are under way, and what came on each.

use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;

use super::answer::AnswerHead;
use super::error_code::PROTOCOL_ERROR;
use crate::io::arrival::Moment;
use crate::io::stamps::Tick;
use crate::room::{Held, NoRoom, Room};

/// What is done with content that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is put together.
    Whole,
    /// It is counted.
    Count,
    /// It is kept as it came, for somebody who takes it piece by piece.
    Pieces,
}

/// What is to become of the answer on a stream.
pub(crate) struct Asked<'a> {
    pub(crate) keep: Keep,
    /// The request is a HEAD request.
    pub(crate) is_bodiless: bool,
    /// Where content that is kept finds room.
    pub(crate) room: &'a Rc<Room>,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The peer has said all.
    Complete,
    /// The peer reset it, with this error code.
    Reset(u32),
    /// The peer broke the rules, and this side reset it, with this error code.
    Broken(u32),
    /// The peer said goodbye, with this error code, before it processed the stream.
    Excluded(u32),
    /// What came does not fit into the room that is left, and this side reset it; `no_room` says why.
    TooLarge,
}

/// A stream.
pub(crate) struct OpenStream {
    pub(super) id: u32,
    /// Who waits for it.
    pub(super) slot: usize,
    /// The answer to a HEAD request declares content that never comes.
    is_bodiless: bool,
    pub(crate) head: Option<AnswerHead>,
    pub(super) has_head: bool,
    /// The head ended the stream.
    pub(crate) is_head_all: bool,
    pub(crate) trailers: Option<AnswerHead>,
    pub(crate) content: StreamContent,
    /// When something arrived first and, where more than one read brought something, last.
    pub(crate) first: Option<Moment>,
    pub(crate) last: Option<Moment>,
    pub(crate) end: Option<StreamEnd>,
    pub(crate) sending: StreamSending,
    /// DATA frames without content.
    pub(super) empty_frames: u32,
    /// Something came with the read that is being looked at.
    pub(super) is_touched: bool,
}

/// What a request still sends.
pub(crate) struct StreamSending {
    /// Bytes of content that the peer allows.
    pub(super) window: i64,
    pub(super) is_wanted: bool,
    pub(super) is_over: bool,
    /// When the last byte of the request was with the kernel.
    pub(crate) sent_at: Option<Tick>,
}

/// The content of an answer.
pub(crate) struct StreamContent {
    keep: Keep,
    pub(crate) whole: Vec<u8>,
    pub(crate) pieces: VecDeque<Bytes>,
    /// Bytes that have arrived.
    pub(crate) length: u64,
    /// Bytes that the head declares.
    pub(crate) declared: Option<u64>,
    /// What `whole` and `pieces` take of the client's room.
    held: Held,
    pub(crate) no_room: Option<NoRoom>,
    pub(super) window: ReceiveWindow,
}

/// A body vector is reserved up to this size ahead; beyond, it grows with what really arrives.
const MAX_RESERVE: u64 = 1 << 20;

impl OpenStream {
    pub(super) fn new(id: u32, slot: usize, asked: Asked<'_>, send_window: i64) -> OpenStream {
        let Asked { keep, is_bodiless, room } = asked;
        OpenStream {
            id,
            slot,
            is_bodiless,
            head: None,
            has_head: false,
            is_head_all: false,
            trailers: None,
            content: StreamContent {
                keep,
                whole: Vec::new(),
                pieces: VecDeque::new(),
                length: 0,
                declared: None,
                held: Held::nothing_of(room),
                no_room: None,
                window: ReceiveWindow::new(WINDOW),
            },
            first: None,
            last: None,
            end: None,
            sending: StreamSending { window: send_window, is_wanted: false, is_over: false, sent_at: None },
            empty_frames: 0,
            is_touched: false,
        }
    }

    pub(super) fn take_head(&mut self, head: AnswerHead, is_all: bool) {
        debug_assert!(!self.has_head, "stream {} has one head, and then trailers", self.id);
        let has_no_content = self.is_bodiless || head.status == 204 || head.status == 304;
        self.content.declared = head.declared.filter(|_| !has_no_content);
        self.has_head = true;
        self.is_head_all = is_all;
        self.head = Some(head);
    }
}

impl StreamContent {
    /// What came in pieces, and what comes, is put together instead.
    pub(crate) fn keep_whole(&mut self) {
        self.keep = Keep::Whole;
        self.pieces.drain(..).for_each(|piece| self.whole.extend_from_slice(&piece));
    }

    /// The next piece, if content is kept so.
    pub(crate) fn take_piece(&mut self) -> Option<Bytes> {
        let piece = self.pieces.pop_front()?;
        self.window.release(piece.len());
        self.held.shrink(piece.len());
        Some(piece)
    }

    /// Why the stream cannot go on, if it cannot: more came than was declared, or than there is room for.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), StreamEnd> {
        debug_assert!(
            self.pieces.is_empty() || self.keep == Keep::Pieces,
            "content is put together or comes in pieces"
        );
        self.length += bytes.len() as u64;
        if self.keep != Keep::Count
            && let Err(why) = self.held.grow(bytes.len())
        {
            self.no_room = Some(why);
            return Err(StreamEnd::TooLarge);
        }
        match self.keep {
            Keep::Count => self.window.release(bytes.len()),
            Keep::Pieces => self.pieces.push_back(Bytes::copy_from_slice(bytes)),
            Keep::Whole => {
                if self.whole.is_empty() {
                    let declared = self.declared.unwrap_or(0).min(MAX_RESERVE) as usize;
                    self.whole.reserve_exact(declared.max(bytes.len()));
                }
                self.whole.extend_from_slice(bytes);
                self.window.release(bytes.len());
            }
        }
        match self.declared.is_none_or(|declared| self.length <= declared) {
            true => Ok(()),
            false => Err(StreamEnd::Broken(PROTOCOL_ERROR)),
        }
    }

    /// Takes what was put together; what holds it from now on counts it for itself.
    pub(crate) fn take_whole(&mut self) -> Vec<u8> {
        debug_assert!(self.pieces.is_empty(), "content is put together or comes in pieces");
        self.held.clear();
        std::mem::take(&mut self.whole)
    }

    /// Whether as much came as was declared.
    pub(super) fn is_whole(&self) -> bool {
        self.declared.is_none_or(|declared| self.length == declared)
    }
}

/// Bytes that may be under way to us, on a connection and on each of its streams: all that h2load and others allow.
/// What arrives is taken at once, so it is no measure of memory.
pub(super) const WINDOW: u32 = (1 << 30) - 1;

/// What the peer may send.
pub(super) struct ReceiveWindow {
    left: i64,
    /// Taken, and not told the peer.
    released: u32,
}

impl ReceiveWindow {
    pub(super) fn new(size: u32) -> ReceiveWindow {
        ReceiveWindow { left: i64::from(size), released: 0 }
    }

    /// A frame of this size came; `false` when it was not allowed.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        self.left -= bytes as i64;
        self.left >= 0
    }

    pub(super) fn release(&mut self, bytes: usize) {
        self.released += bytes as u32;
        debug_assert!(
            self.left + i64::from(self.released) <= i64::from(WINDOW),
            "no more is given back than was taken: {} of {}",
            self.released,
            self.left
        );
    }

    /// What the peer has to be told, once it is much.
    pub(super) fn increment(&mut self) -> Option<u32> {
        if self.released < WINDOW / 2 {
            return None;
        }
        self.left += i64::from(self.released);
        debug_assert!(self.left <= i64::from(WINDOW), "the peer may send no more than a window");
        Some(std::mem::take(&mut self.released))
    }
}
