//! A body on its way from the script to the connection, piece by piece.
//!
//! The script pushes until what waits here is enough, then waits to be told that there is room: a slow client slows the
//! script down. Invariant: at most `ENOUGH` bytes wait, and one piece more.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use server::respond::PieceStream;

/// Bytes that wait before the script is asked to: what the sender coalesces into one write, twice.
const ENOUGH: usize = 256 * 1024;

/// The app's side, which is told when there is room again.
pub(crate) trait Listener {
    /// This body has room, or is not wanted any more.
    fn drained(&self, flow: Rc<Outflow>);
}

/// What both ends share.
pub(crate) struct Outflow {
    pieces: RefCell<VecDeque<Bytes>>,
    waiting: Cell<usize>,
    end: RefCell<Option<Result<(), String>>>,
    is_dropped: Cell<bool>,
    waker: RefCell<Option<Waker>>,
    /// The script's callback for when there is room.
    pub on_drained: Cell<Option<usize>>,
    listener: Weak<dyn Listener>,
}

impl Outflow {
    pub fn new(listener: Weak<dyn Listener>) -> Rc<Self> {
        Rc::new(Outflow {
            pieces: RefCell::default(),
            waiting: Cell::new(0),
            end: RefCell::default(),
            is_dropped: Cell::new(false),
            waker: RefCell::default(),
            on_drained: Cell::new(None),
            listener,
        })
    }

    /// Adds a piece.
    pub fn push(&self, piece: Bytes) {
        if piece.is_empty() || self.is_dropped.get() {
            return;
        }
        self.waiting.set(self.waiting.get() + piece.len());
        self.pieces.borrow_mut().push_back(piece);
        self.wake();
    }

    /// No piece comes any more; an error breaks the connection, so that the client does not take the body for complete.
    pub fn finish(&self, end: Result<(), String>) {
        self.end.borrow_mut().get_or_insert(end);
        self.wake();
    }

    /// Whether another piece is welcome now.
    pub fn has_room(&self) -> bool {
        self.waiting.get() < ENOUGH
    }

    /// Whether nobody will take what is pushed.
    pub fn is_dropped(&self) -> bool {
        self.is_dropped.get()
    }

    fn wake(&self) {
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn tell_script(self: &Rc<Self>) {
        if self.on_drained.get().is_some()
            && let Some(listener) = self.listener.upgrade()
        {
            listener.drained(self.clone());
        }
    }
}

/// The connection's end of a streamed body.
pub(crate) struct AnswerStream(pub(super) Rc<Outflow>);

impl PieceStream for AnswerStream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        let flow = &self.0;
        let piece = flow.pieces.borrow_mut().pop_front();
        if let Some(piece) = piece {
            let before = flow.waiting.get();
            debug_assert!(before >= piece.len(), "a piece leaves once: {} of {before} bytes", piece.len());
            flow.waiting.set(before - piece.len());
            // Asked for while a part is left, so that the next pieces are there when that was sent.
            if flow.waiting.get() <= ENOUGH / 2 {
                flow.tell_script();
            }
            return Poll::Ready(Some(Ok(piece)));
        }
        debug_assert_eq!(flow.waiting.get(), 0, "without pieces no byte waits");
        if let Some(end) = &mut *flow.end.borrow_mut() {
            return Poll::Ready(std::mem::replace(end, Ok(())).err().map(Err));
        }
        if flow.listener.strong_count() == 0 {
            return Poll::Ready(Some(Err(String::from("the app has ended"))));
        }
        *flow.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        self.0.is_dropped.set(true);
        self.0.pieces.take();
        self.0.tell_script();
    }
}
