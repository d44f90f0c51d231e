//! Interrupts iterations whose grace is over.
//!
//! One task a worker sleeps until the earliest deadline of any iteration. An iteration enters its deadline only when it
//! is another than the user's last, so users of a scenario with one common end enter once, not once an iteration.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::{AnyClock, Clock};
use crate::stop::{Interrupt, StopReason};

/// The deadlines of one worker's iterations.
#[derive(Default)]
pub(crate) struct Deadlines {
    heap: RefCell<BinaryHeap<Reverse<Entry>>>,
    earlier: Notify,
}

struct Entry {
    deadline: Duration,
    interrupt: Weak<Interrupt>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.deadline == other.deadline
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.deadline.cmp(&other.deadline)
    }
}

impl Deadlines {
    /// Will look at this user at `deadline`.
    pub(crate) fn watch(&self, interrupt: &Rc<Interrupt>, deadline: Duration) {
        let mut heap = self.heap.borrow_mut();
        let is_earliest = heap.peek().is_none_or(|Reverse(first)| deadline < first.deadline);
        heap.push(Reverse(Entry { deadline, interrupt: Rc::downgrade(interrupt) }));
        if is_earliest {
            self.earlier.notify_one();
        }
    }

    /// Runs as a task of the worker.
    pub(crate) async fn run(&self, clock: &AnyClock) {
        loop {
            let next = self.heap.borrow().peek().map(|Reverse(first)| first.deadline);
            match next {
                None => self.earlier.notified().await,
                Some(next) => {
                    tokio::select! {
                        biased;
                        () = clock.sleep_until(next) => self.interrupt_due(clock.now()),
                        () = self.earlier.notified() => {}
                    }
                }
            }
        }
    }

    fn interrupt_due(&self, now: Duration) {
        let mut due = Vec::new();
        let mut heap = self.heap.borrow_mut();
        while heap.peek().is_some_and(|Reverse(first)| first.deadline <= now) {
            due.extend(heap.pop());
        }
        drop(heap);
        // A deadline that is still the iteration's own: a later iteration has another or none.
        let running = due.into_iter().filter_map(|Reverse(entry)| entry.interrupt.upgrade());
        for interrupt in running.filter(|interrupt| interrupt.deadline().is_some_and(|deadline| deadline <= now)) {
            interrupt.set(StopReason::GracefulStopOver);
        }
    }
}
