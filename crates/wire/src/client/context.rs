//! What all connections of one worker thread share: the receive buffer, spare send buffers, the stamp clock, known heads.
//!
//! An idle connection owns no buffer; only an incomplete message is copied into one of its own.
//! Invariant: no borrow of the receive buffer is held across an await.

use std::cell::{Cell, RefCell, RefMut};

use crate::h1::known_heads::KnownHeads;
use crate::io::socket::StampKeeper;
use crate::io::stamps::StampClock;
use crate::payload::PIECE;
use crate::settings::StepLimits;

/// Size of the receive buffer: large enough that a read empties the socket, small enough for the second-level cache.
const RECEIVE_BUFFER: usize = 128 << 10;

/// Buffers and clock of a worker thread.
pub(crate) struct IoContext {
    receive: RefCell<Box<[u8]>>,
    gather: RefCell<Box<[u8]>>,
    piece: RefCell<Box<[u8]>>,
    spare_head: Cell<Vec<u8>>,
    spare_cipher: Cell<Vec<u8>>,
    /// See `Settings::send_buffer`.
    pub(crate) send_buffer: Option<usize>,
    pub(crate) stamps: StampClock,
    pub(crate) heads: KnownHeads,
    pub(crate) limits: StepLimits,
    _keeper: StampKeeper,
}

impl IoContext {
    pub(crate) fn new(limits: StepLimits, send_buffer: Option<usize>) -> IoContext {
        IoContext {
            send_buffer,
            receive: RefCell::new(vec![0; RECEIVE_BUFFER].into_boxed_slice()),
            gather: RefCell::default(),
            piece: RefCell::default(),
            spare_head: Cell::default(),
            spare_cipher: Cell::default(),
            stamps: StampClock::new(),
            heads: KnownHeads::default(),
            limits,
            _keeper: StampKeeper::new(),
        }
    }

    /// The receive buffer, for one read.
    pub(crate) fn receive_buffer(&self) -> RefMut<'_, Box<[u8]>> {
        self.receive.borrow_mut()
    }

    /// Room to gather the small pieces of one TLS record in; empty until first asked for.
    pub(crate) fn gather_buffer(&self, len: usize) -> RefMut<'_, Box<[u8]>> {
        let mut buffer = self.gather.borrow_mut();
        if buffer.len() != len {
            *buffer = vec![0; len].into_boxed_slice();
        }
        buffer
    }

    /// Room for one piece of a streamed segment, for one write: what the kernel did not take is read again, so that a
    /// connection under way owns no buffer. Empty until first asked for.
    pub(crate) fn piece_buffer(&self) -> RefMut<'_, Box<[u8]>> {
        let mut buffer = self.piece.borrow_mut();
        if buffer.is_empty() {
            *buffer = vec![0; PIECE].into_boxed_slice();
        }
        buffer
    }

    /// An empty buffer to encode a head into; give it back with `return_head`.
    pub(crate) fn take_head(&self) -> Vec<u8> {
        let mut head = self.spare_head.take();
        head.clear();
        head
    }

    pub(crate) fn return_head(&self, head: Vec<u8>) {
        self.spare_head.set(head);
    }

    /// A buffer of `len` bytes for encrypted records.
    pub(crate) fn take_cipher(&self, len: usize) -> Vec<u8> {
        let mut cipher = self.spare_cipher.take();
        cipher.resize(len, 0);
        cipher
    }

    pub(crate) fn return_cipher(&self, cipher: Vec<u8>) {
        self.spare_cipher.set(cipher);
    }
}
