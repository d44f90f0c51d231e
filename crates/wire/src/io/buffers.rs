//! Buffers that all connections of a thread share: an idle connection owns none, and only an incomplete message is
//! copied into one of its own.
//!
//! Invariant: no borrow of a buffer is held across an await.

use std::cell::{Cell, RefCell, RefMut};

use crate::payload::PIECE;

/// Size of the receive buffer: large enough that a read empties the socket, small enough for the second-level cache.
const RECEIVE_BUFFER: usize = 128 << 10;

/// The buffers of a thread.
pub(crate) struct Buffers {
    receive: RefCell<Box<[u8]>>,
    gather: RefCell<Box<[u8]>>,
    piece: RefCell<Box<[u8]>>,
    spare_cipher: Cell<Vec<u8>>,
}

impl Buffers {
    pub(crate) fn new() -> Buffers {
        Buffers {
            receive: RefCell::new(vec![0; RECEIVE_BUFFER].into_boxed_slice()),
            gather: RefCell::default(),
            piece: RefCell::default(),
            spare_cipher: Cell::default(),
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

    /// A buffer of `len` bytes for encrypted records.
    pub(crate) fn take_cipher(&self, len: usize) -> Vec<u8> {
        let mut cipher = self.spare_cipher.take();
        cipher.resize(len, 0);
        cipher
    }

    /// Keeps the larger of two.
    pub(crate) fn return_cipher(&self, cipher: Vec<u8>) {
        let spare = self.spare_cipher.take();
        self.spare_cipher.set(if spare.len() > cipher.len() { spare } else { cipher });
    }
}
