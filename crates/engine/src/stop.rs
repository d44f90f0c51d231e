//! The one backward wire: how running work is told to stop.

use std::cell::{Cell, RefCell};
use std::task::Waker;

/// Why a virtual user has to leave what it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The scenario's time and its graceful stop are over, or a ramp-down's grace.
    GracefulStopOver,
    /// The test was aborted (threshold, `exec.test.abort`, signal).
    Aborted,
}

/// Tells one virtual user to leave its iteration. The engine sets it; the user looks at it whenever it is polled and
/// whenever it has run long without waiting.
#[derive(Default)]
pub struct Interrupt {
    reason: Cell<Option<StopReason>>,
    waker: RefCell<Option<Waker>>,
}

impl Interrupt {
    /// Sets the reason and wakes the user. The first reason stays until `clear`.
    pub fn set(&self, reason: StopReason) {
        if self.reason.get().is_none() {
            self.reason.set(Some(reason));
        }
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// The reason, when there is one.
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.get()
    }

    /// Forgets the reason before the next iteration.
    pub fn clear(&self) {
        self.reason.set(None);
    }

    /// Asks to be woken by `set`. The user calls it when it is about to wait.
    pub fn register(&self, waker: &Waker) {
        let mut slot = self.waker.borrow_mut();
        if !slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }
}
