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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;

    const fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    /// When users with these deadlines, watched one after the other at these times, are interrupted; none for one that
    /// is not within ten seconds.
    fn interrupted(watched: &[(Duration, Duration)]) -> Vec<Option<Duration>> {
        let (fake, deadlines) = (FakeClock::new(), Deadlines::default());
        let clock = AnyClock::Fake(fake.clone());
        let users: Vec<Rc<Interrupt>> = watched.iter().map(|_| Rc::default()).collect();
        let mut seen = vec![None; users.len()];
        fake.run(async {
            let watching = async {
                for (user, (at, deadline)) in users.iter().zip(watched) {
                    clock.sleep_until(*at).await;
                    user.set_deadline(Some(*deadline));
                    deadlines.watch(user, *deadline);
                }
                std::future::pending().await
            };
            let looking = async {
                for at in (0..=20).map(|half| Duration::from_millis(500 * half)) {
                    clock.sleep_until(at + Duration::from_nanos(1)).await;
                    for (user, seen) in users.iter().zip(&mut seen).filter(|(user, _)| user.is_set()) {
                        assert_eq!(user.reason(), Some(StopReason::GracefulStopOver));
                        seen.get_or_insert(at);
                    }
                }
            };
            tokio::select! {
                () = deadlines.run(&clock) => {}
                () = watching => {}
                () = looking => {}
            }
        });
        seen
    }

    #[test]
    fn each_user_is_interrupted_at_its_own_deadline() {
        let all = [(s(0), s(5)), (s(0), s(2)), (s(1), s(3)), (s(1), s(3)), (s(6), s(8)), (s(6), s(60))];
        assert_eq!(interrupted(&all), [Some(s(5)), Some(s(2)), Some(s(3)), Some(s(3)), Some(s(8)), None]);
    }

    #[test]
    fn a_user_that_has_gone_on_is_left_alone() {
        let deadlines = Deadlines::default();
        let users: [Rc<Interrupt>; 4] = Default::default();
        users.iter().for_each(|user| deadlines.watch(user, s(5)));
        users[0].set_deadline(Some(s(9)));
        users[1].clear();
        users[2].set_deadline(Some(s(5)));
        let [later, idle, due, gone] = users;
        drop(gone);
        deadlines.interrupt_due(s(5));
        assert_eq!([later, idle, due].map(|user| user.is_set()), [false, false, true]);
        assert!(deadlines.heap.borrow().is_empty());
    }
}
