//! The virtual users of one worker that no scenario uses now.
//!
//! A lane takes users out and puts them back when it has no work for them. First come, first served: lanes wait in
//! line, and take users in the order in which they came back.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::stop::Interrupt;

/// A virtual user and what the engine keeps for it.
pub(crate) struct Member<U> {
    /// Its number in this instance.
    pub(crate) id: u64,
    pub(crate) user: U,
    pub(crate) interrupt: Rc<Interrupt>,
    /// Iterations begun, by scenario.
    begun: Vec<u64>,
    /// The deadline that `Deadlines` knows.
    pub(crate) watched: Cell<Option<Duration>>,
}

impl<U> Member<U> {
    /// Begins an iteration of a scenario: how many it began before.
    #[inline]
    pub(crate) fn begin(&mut self, scenario: usize) -> u64 {
        if self.begun.len() <= scenario {
            self.begun.resize(scenario + 1, 0);
        }
        let before = self.begun[scenario];
        self.begun[scenario] += 1;
        before
    }
}

/// What a pool has to give.
pub(crate) enum Free<U> {
    /// A user.
    Member(Member<U>),
    /// The number of a user that was lost: another one must be made in its place.
    Number(u64),
}

/// Users that are free.
pub(crate) struct Pool<U> {
    free: RefCell<VecDeque<Free<U>>>,
    /// Of all users of the worker, free or taken.
    interrupts: RefCell<Vec<Rc<Interrupt>>>,
    came_back: Notify,
}

impl<U> Pool<U> {
    pub(crate) fn new() -> Self {
        Pool { free: RefCell::default(), interrupts: RefCell::default(), came_back: Notify::new() }
    }

    /// A new user of this worker, not yet in the pool.
    pub(crate) fn add_user(&self, id: u64, user: U, interrupt: Rc<Interrupt>) -> Member<U> {
        self.interrupts.borrow_mut().push(Rc::clone(&interrupt));
        Member { id, user, interrupt, begun: Vec::new(), watched: Cell::new(None) }
    }

    /// Gives a user back.
    pub(crate) fn put(&self, member: Member<U>) {
        self.add(Free::Member(member));
    }

    /// A user will not come back. Whoever needs one makes it again.
    pub(crate) fn put_number_of(&self, lost: Member<U>) {
        self.interrupts.borrow_mut().retain(|interrupt| !Rc::ptr_eq(interrupt, &lost.interrupt));
        self.add(Free::Number(lost.id));
    }

    fn add(&self, free: Free<U>) {
        self.free.borrow_mut().push_back(free);
        self.came_back.notify_one();
    }

    /// Takes the user that has been free the longest; waits until one is.
    pub(crate) async fn take(&self) -> Free<U> {
        loop {
            let free = self.free.borrow_mut().pop_front();
            match free {
                Some(free) => return free,
                None => self.came_back.notified().await,
            }
        }
    }

    /// Takes the user that has been free the longest; none where none is free.
    pub(crate) fn try_take(&self) -> Option<Free<U>> {
        self.free.borrow_mut().pop_front()
    }

    /// Calls every user of the worker, also those that are taken.
    pub(crate) fn each_interrupt(&self, call: impl Fn(&Interrupt)) {
        let interrupts = self.interrupts.borrow().clone();
        interrupts.iter().for_each(|interrupt| call(interrupt));
    }

    /// Takes all free users.
    pub(crate) fn drain(&self) -> VecDeque<Free<U>> {
        self.free.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;
    use crate::stop::StopReason;

    fn name(free: Free<&str>) -> String {
        match free {
            Free::Member(member) => member.user.to_owned(),
            Free::Number(id) => format!("number {id}"),
        }
    }

    fn pool_of(users: &[&'static str]) -> Pool<&'static str> {
        let pool = Pool::new();
        for (id, user) in (1..).zip(users) {
            pool.put(pool.add_user(id, *user, Rc::default()));
        }
        pool
    }

    #[test]
    fn who_came_back_first_is_taken_first_and_takers_wait() {
        let pool = pool_of(&["a", "b"]);
        FakeClock::new().run(async {
            let Free::Member(first) = pool.take().await else { panic!("a user") };
            assert_eq!((first.user, name(pool.take().await).as_str()), ("a", "b"));
            let (taken, ()) = tokio::join!(pool.take(), async { pool.put(first) });
            assert_eq!(name(taken), "a");
        });
        assert!(pool.drain().is_empty());
    }

    #[test]
    fn a_lost_user_leaves_its_number_and_hears_of_nothing() {
        let pool = pool_of(&["a", "b", "c"]);
        let free = pool.drain().into_iter().map(|free| match free {
            Free::Member(member) => member,
            Free::Number(_) => panic!("nobody is lost yet"),
        });
        let mut members: Vec<Member<&str>> = free.collect();
        let interrupts: Vec<Rc<Interrupt>> = members.iter().map(|member| Rc::clone(&member.interrupt)).collect();
        pool.put_number_of(members.remove(1));
        members.into_iter().for_each(|member| pool.put(member));
        pool.each_interrupt(|interrupt| interrupt.set(StopReason::Aborted));
        assert_eq!(interrupts.iter().map(|interrupt| interrupt.is_set()).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(pool.drain().into_iter().map(name).collect::<Vec<_>>(), ["number 2", "a", "c"]);
    }

    #[test]
    fn iterations_are_counted_for_each_scenario() {
        let mut member = pool_of(&[]).add_user(1, "a", Rc::default());
        assert_eq!([2, 2, 0, 2, 1, 0].map(|scenario| member.begin(scenario)), [0, 1, 0, 2, 0, 1]);
    }
}
