//! What all parts of a world share: its case, its clock, its chance and its account.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use engine::clock::{Clock, FakeClock};

use crate::case::Case;
use crate::ledger::{Arrived, Ledger};
use crate::plan::HOPS;

thread_local!(static WORLD: RefCell<Option<Rc<World>>> = const { RefCell::new(None) });

/// A case, and what has come of it so far.
pub(crate) struct World {
    pub(crate) case: Case,
    pub(crate) clock: FakeClock,
    pub(crate) ledger: RefCell<Ledger>,
    random: RefCell<fastrand::Rng>,
    next: Cell<u64>,
}

/// A world that is the present one of this thread until this is dropped.
pub(crate) struct Present;

impl Drop for Present {
    fn drop(&mut self) {
        WORLD.take();
    }
}

impl World {
    pub(crate) fn new(case: Case) -> Rc<World> {
        let random = RefCell::new(fastrand::Rng::with_seed(!case.seed));
        let (clock, ledger, next) = (FakeClock::new(), RefCell::default(), Cell::new(1));
        Rc::new(World { case, clock, ledger, random, next })
    }

    /// Makes it the one that users who are made on this thread find.
    pub(crate) fn enter(self: &Rc<World>) -> Present {
        WORLD.replace(Some(Rc::clone(self)));
        Present
    }

    /// The present one.
    pub(crate) fn present() -> Rc<World> {
        WORLD.with_borrow(Clone::clone).expect("users are made in a world")
    }

    pub(crate) fn draw<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        draw(&mut self.random.borrow_mut())
    }

    /// The number of a new request's first hop.
    pub(crate) fn next_key(&self) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        number * HOPS
    }

    /// How far the wall clock has jumped by then, in nanoseconds.
    fn jumped_by(&self, at: Duration) -> i64 {
        self.case.steps.iter().filter(|(when, _)| *when <= at).map(|(_, by)| by).sum()
    }

    /// How far the wall clock may be off for who looked at it before this time, and after that one.
    pub(crate) fn jumps_within(&self, from: Duration, to: Duration) -> Duration {
        let within = self.case.steps.iter().filter(|(when, _)| from <= *when && *when <= to);
        Duration::from_nanos(within.map(|(_, by)| by.unsigned_abs()).sum())
    }

    /// The wall clock at this time.
    pub(crate) fn wall_at(&self, at: Duration) -> u64 {
        self.clock.epoch_ns(at).wrapping_add_signed(self.jumped_by(at))
    }

    /// Bytes of this hop's answer were read.
    pub(crate) fn arrived(&self, key: u64, at: Arrived) {
        if let Some(served) = self.ledger.borrow_mut().served.get_mut(&key) {
            served.first.get_or_insert(at);
            served.last = Some(at);
        }
    }
}
