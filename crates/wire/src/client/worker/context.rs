//! What all connections of one thread's clients share: buffers, the stamp clock, known heads, limits of steps.

use std::cell::Cell;
use std::rc::Rc;

use crate::client::worker::cancelled::CancelledCounter;
use crate::client::worker::keeper::Http2Keeper;
use crate::departures::Checker;
use crate::h1::known_heads::KnownHeads;
use crate::io::buffers::Buffers;
use crate::io::receive::StampKeeper;
use crate::io::stamps::StampClock;
use crate::settings::StepLimits;

/// Buffers and clock of a worker thread.
pub(crate) struct IoContext {
    pub(crate) buffers: Rc<Buffers>,
    spare_head: Cell<Vec<u8>>,
    /// See `Settings::send_buffer`.
    pub(crate) send_buffer: Option<usize>,
    pub(crate) stamps: StampClock,
    pub(crate) heads: KnownHeads,
    pub(crate) limits: StepLimits,
    pub(crate) http2_keeper: Rc<Http2Keeper>,
    pub(crate) checker: Option<Checker>,
    pub(crate) cancelled: CancelledCounter,
    _keeper: StampKeeper,
}

impl IoContext {
    pub(crate) fn new(limits: StepLimits, send_buffer: Option<usize>) -> IoContext {
        IoContext {
            send_buffer,
            buffers: Rc::new(Buffers::new()),
            spare_head: Cell::default(),
            stamps: StampClock::new(),
            heads: KnownHeads::default(),
            limits,
            http2_keeper: Rc::default(),
            checker: None,
            cancelled: CancelledCounter::default(),
            _keeper: StampKeeper::new(),
        }
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
}
