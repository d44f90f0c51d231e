//! Sleepers in the order in which they are due: the part that the real and the fake clock have in common.
//!
//! A sleeper is a slot with a waker; its deadline is an entry of a heap. Giving a sleep up frees the slot at once and
//! leaves the heap entry behind, which its ticket distinguishes from a later use of the slot. Reads no clock and does
//! no IO.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::task::Waker;
use std::time::Duration;

/// Names a sleeper; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket {
    number: u64,
    slot: u32,
}

/// All sleepers of one clock.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Duration, Ticket)>>,
    slots: Vec<Option<(u64, Waker)>>,
    free: Vec<u32>,
    issued: u64,
}

impl Timers {
    /// Adds a sleeper. True when its deadline is the earliest of all.
    pub(super) fn add(&mut self, deadline: Duration, waker: Waker) -> (Ticket, bool) {
        self.issued += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 sleepers fit into memory")
        });
        let ticket = Ticket { number: self.issued, slot };
        debug_assert!(self.slots[slot as usize].is_none(), "a free slot holds no sleeper");
        self.slots[slot as usize] = Some((ticket.number, waker));
        let earliest = self.heap.peek().is_none_or(|Reverse((first, _))| deadline < *first);
        self.heap.push(Reverse((deadline, ticket)));
        debug_assert!(self.heap.len() + self.free.len() >= self.slots.len(), "each sleeper has a deadline in the heap");
        (ticket, earliest)
    }

    /// Whether the sleeper is still waiting; replaces its waker when another task polls it now.
    pub(super) fn renew(&mut self, ticket: Ticket, waker: &Waker) -> bool {
        match &mut self.slots[ticket.slot as usize] {
            Some((number, known)) if *number == ticket.number => {
                known.clone_from(waker);
                true
            }
            _ => false,
        }
    }

    /// Forgets a sleeper, also one that was woken already.
    pub(super) fn remove(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[ticket.slot as usize];
        if slot.as_ref().is_some_and(|(number, _)| *number == ticket.number) {
            *slot = None;
            self.free.push(ticket.slot);
            debug_assert!(self.free.len() <= self.slots.len(), "a slot is freed once");
        }
    }

    /// The earliest deadline that somebody still waits for.
    pub(super) fn next(&mut self) -> Option<Duration> {
        while let Some(Reverse((deadline, ticket))) = self.heap.peek().copied() {
            if self.is_waiting(ticket) {
                return Some(deadline);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes the waker of the earliest sleeper that is due at `now`.
    pub(super) fn pop_due(&mut self, now: Duration) -> Option<Waker> {
        if self.next()? > now {
            return None;
        }
        let Reverse((_, ticket)) = self.heap.pop()?;
        debug_assert!(self.is_waiting(ticket), "`next` leaves a waiting user in front");
        let (_, waker) = self.slots[ticket.slot as usize].take()?;
        self.free.push(ticket.slot);
        Some(waker)
    }

    fn is_waiting(&self, ticket: Ticket) -> bool {
        self.slots[ticket.slot as usize].as_ref().is_some_and(|(number, _)| *number == ticket.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn wakes_in_order_and_only_what_is_due() {
        let mut timers = Timers::default();
        let waker = Waker::noop();
        let (late, earliest) = timers.add(ms(9), waker.clone());
        assert!(earliest);
        assert!(timers.add(ms(3), waker.clone()).1);
        assert!(!timers.add(ms(5), waker.clone()).1);
        assert_eq!(timers.next(), Some(ms(3)));
        assert!(timers.pop_due(ms(2)).is_none());
        assert!(timers.pop_due(ms(4)).is_some());
        assert!(timers.pop_due(ms(4)).is_none());
        assert!(timers.renew(late, waker));
        timers.remove(late);
        assert!(!timers.renew(late, waker));
        assert!(timers.pop_due(ms(100)).is_some());
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn a_slot_used_again_is_another_sleeper() {
        let mut timers = Timers::default();
        let (old, _) = timers.add(ms(1), Waker::noop().clone());
        timers.remove(old);
        let (new, _) = timers.add(ms(7), Waker::noop().clone());
        assert_eq!(old.slot, new.slot);
        timers.remove(old);
        assert_eq!(timers.next(), Some(ms(7)));
    }

    #[test]
    fn the_task_that_polled_last_is_woken() {
        struct Nothing;
        impl std::task::Wake for Nothing {
            fn wake(self: std::sync::Arc<Self>) {}
        }
        let [first, last] = [(); 2].map(|()| Waker::from(std::sync::Arc::new(Nothing)));
        let mut timers = Timers::default();
        let (ticket, _) = timers.add(ms(1), first.clone());
        assert!(timers.renew(ticket, &last));
        let woken = timers.pop_due(ms(1)).unwrap();
        assert!(woken.will_wake(&last) && !woken.will_wake(&first));
        assert!(!timers.renew(ticket, &last), "it was woken already");
    }

    #[test]
    fn a_sleeper_given_up_holds_up_nobody() {
        let mut timers = Timers::default();
        let tickets = [1, 2, 3].map(|at| timers.add(ms(at), Waker::noop().clone()).0);
        timers.remove(tickets[0]);
        timers.remove(tickets[0]);
        assert_eq!(timers.next(), Some(ms(2)));
        let added = timers.add(ms(9), Waker::noop().clone()).0;
        assert_ne!(added, tickets[0]);
        assert_eq!((added.slot, timers.slots.len(), timers.free.len()), (tickets[0].slot, 3, 0));
        let due = (0..10).map_while(|_| timers.pop_due(ms(5))).count();
        assert_eq!((due, timers.next()), (2, Some(ms(9))));
    }
}
