//! How a coroutine learns that it is to stop. Who runs it says so; the coroutine asks whenever it waits or computes for
//! long.

use std::cell::{Cell, RefCell};
use std::task::Waker;

/// Tells one coroutine to leave what it is doing.
pub trait Stop {
    /// Whether it is to stop, as far as that is known without looking at a clock: for code that waits and is woken
    /// anyway.
    fn is_set(&self) -> bool;

    /// Whether it is to stop now; may look at a clock. For code that runs.
    fn is_due(&self) -> bool;

    /// Asks to be woken when that changes.
    fn register(&self, waker: &Waker);

    /// Whether it is set; if not, the waker is called when it is.
    fn watch(&self, waker: &Waker) -> bool {
        let is_set = self.is_set();
        if !is_set {
            self.register(waker);
        }
        is_set
    }
}

/// The plainest way to stop a coroutine: somebody sets it.
#[derive(Default)]
pub struct StopFlag {
    is_set: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl StopFlag {
    /// Stops the coroutine, and wakes it when it waits.
    pub fn set(&self) {
        self.is_set.set(true);
        // Taken out first: a waker may run code that registers again.
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Stop for StopFlag {
    fn is_set(&self) -> bool {
        self.is_set.get()
    }

    fn is_due(&self) -> bool {
        self.is_set.get()
    }

    fn register(&self, waker: &Waker) {
        let mut slot = self.waker.borrow_mut();
        if !slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }
}
