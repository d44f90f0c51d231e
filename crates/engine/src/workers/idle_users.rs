//! The users of an arrival rate that wait for work: the pacer starts the one that has waited longest.
//!
//! Belongs to one lane. A start costs a queue pop and a wake-up; nothing is allocated for an iteration.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::pacer::{Next, Pace, Turn};

/// The waiting users of one lane.
#[derive(Default)]
pub(crate) struct IdleUsers {
    waiting: RefCell<VecDeque<usize>>,
    slots: RefCell<Vec<UserSlot>>,
    closed: Cell<bool>,
}

#[derive(Default)]
struct UserSlot {
    /// The planned start of the iteration to do.
    job: Option<Duration>,
    waker: Option<Waker>,
}

impl IdleUsers {
    /// The pacing of one more user.
    pub(crate) fn join(self: &Rc<Self>, hard: Duration) -> ArrivalPace {
        let mut slots = self.slots.borrow_mut();
        slots.push(UserSlot::default());
        ArrivalPace { users: Rc::clone(self), slot: slots.len() - 1, hard, is_waiting: false }
    }

    /// Gives the iteration planned for this time to a waiting user; false when none waits.
    pub(crate) fn start_one(&self, planned: Duration) -> bool {
        let Some(slot) = self.waiting.borrow_mut().pop_front() else { return false };
        debug_assert!(!self.closed.get(), "nothing starts after the end");
        let mut slots = self.slots.borrow_mut();
        debug_assert!(slots[slot].job.is_none(), "a waiting user has no iteration yet");
        slots[slot].job = Some(planned);
        let waker = slots[slot].waker.take();
        drop(slots);
        waker.into_iter().for_each(Waker::wake);
        true
    }

    /// Ends all users: those at work once they are done.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        let wakers: Vec<Waker> = self.slots.borrow_mut().iter_mut().filter_map(|slot| slot.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// How one user gets its starts.
pub(crate) struct ArrivalPace {
    users: Rc<IdleUsers>,
    slot: usize,
    hard: Duration,
    /// It is among those who wait.
    is_waiting: bool,
}

impl Pace for ArrivalPace {
    fn next(&mut self, _elapsed: Duration, _begun: u64) -> Next {
        debug_assert!(!self.is_waiting, "a waiting user does not ask");
        match self.users.slots.borrow_mut()[self.slot].job.take() {
            Some(planned) => Next::Start(Turn { number: None, planned: Some(planned), hard: self.hard }),
            None if self.users.closed.get() => Next::Done,
            None => Next::Rest,
        }
    }

    /// Waits for a start or for the end.
    fn poll_rest(&mut self, context: &Context<'_>) -> Poll<()> {
        if !std::mem::replace(&mut self.is_waiting, true) {
            self.users.waiting.borrow_mut().push_back(self.slot);
        }
        let mut slots = self.users.slots.borrow_mut();
        debug_assert!(self.users.waiting.borrow().len() <= slots.len(), "each user waits in one place");
        let slot = &mut slots[self.slot];
        if slot.job.is_some() || self.users.closed.get() {
            self.is_waiting = false;
            return Poll::Ready(());
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;

    #[test]
    fn the_longest_waiting_is_started_and_none_when_all_are_busy() {
        let idle = Rc::new(IdleUsers::default());
        let mut slots: Vec<ArrivalPace> = (0..2).map(|_| idle.join(Duration::MAX)).collect();
        let planned = Duration::from_secs(3);
        assert!(!idle.start_one(planned), "no user waits yet");
        FakeClock::new().run(async {
            assert_eq!(slots[1].next(planned, 0), Next::Rest);
            let (first, second) = slots.split_at_mut(1);
            let rest = |slot: &mut ArrivalPace, context: &mut Context<'_>| slot.poll_rest(context);
            let waiting = async {
                let second = std::future::poll_fn(|context| rest(&mut second[0], context));
                tokio::join!(second, std::future::poll_fn(|context| rest(&mut first[0], context)))
            };
            let starting = async {
                assert!(idle.start_one(planned));
                assert_eq!(idle.slots.borrow()[1].job, Some(planned));
                assert!(idle.start_one(planned));
                assert!(!idle.start_one(planned));
            };
            tokio::join!(waiting, starting);
        });
        assert!(matches!(slots[0].next(planned, 0), Next::Start(turn) if turn.planned == Some(planned)));
        idle.close();
        assert_eq!(slots[0].next(planned, 1), Next::Done);
    }
}
