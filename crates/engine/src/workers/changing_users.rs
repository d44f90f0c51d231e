//! Users whose number a client may change while they run, of one lane: constant-vus and ramping-vus.
//!
//! They follow the plan that they were given until there is another one. Then each asks the changed ramp for the spans
//! of its position. Without a change this costs an iteration the look at one number.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::pacer::{Next, Pace, Ramp, Ramping};
use crate::segment::Stripes;
use crate::spread::Spread;
use crate::stop::Interrupt;

/// Which positions are where.
pub(crate) struct Positions {
    pub(crate) spread: Spread,
    pub(crate) stripes: Stripes,
    /// Users of this instance, by the plan.
    pub(crate) planned: u64,
}

/// What the users of a lane share.
#[derive(Default)]
pub(crate) struct ChangingUsers {
    /// What holds instead of the plan.
    pub(crate) ramp: RefCell<Option<Arc<Ramp>>>,
    /// How often it was another one.
    pub(crate) changes: Cell<u32>,
    /// Wakes users that are away.
    pub(crate) changed: Notify,
    /// Positions of this instance that have a user, at work or away.
    pub(crate) present: RefCell<BTreeSet<u64>>,
    /// Those at work.
    pub(crate) at_work: RefCell<BTreeMap<u64, Rc<Interrupt>>>,
}

/// How one of them is paced.
pub(crate) struct ChangingPace<P> {
    pub(crate) planned: P,
    pub(crate) users: Rc<ChangingUsers>,
    /// In the whole test.
    pub(crate) position: u64,
    /// The changes that it knows of.
    pub(crate) seen: u32,
    pub(crate) changed: Option<Ramping>,
}

impl ChangingUsers {
    /// The user at a position begins to work, or has ended to.
    pub(crate) fn hold(&self, position: u64, interrupt: Option<&Rc<Interrupt>>) {
        let mut at_work = self.at_work.borrow_mut();
        match interrupt {
            Some(interrupt) => at_work.insert(position, Rc::clone(interrupt)),
            None => at_work.remove(&position),
        };
    }

    /// Resolves when the plan is another one.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl<P: Pace> Pace for ChangingPace<P> {
    #[inline]
    fn next(&mut self, elapsed: Duration, begun: u64) -> Next {
        if self.users.changes.get() != self.seen {
            self.adopt();
        }
        match &mut self.changed {
            None => self.planned.next(elapsed, begun),
            Some(changed) => changed.next(elapsed, begun),
        }
    }
}

impl<P> ChangingPace<P> {
    #[cold]
    fn adopt(&mut self) {
        self.seen = self.users.changes.get();
        self.changed = self.users.ramp.borrow().as_ref().map(|ramp| Ramping::new(ramp.spans(self.position)));
    }
}
