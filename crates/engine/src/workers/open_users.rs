//! The users of an arrival rate on one worker, and how many of them there may be; the starts that are this worker's.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::pacer::Starts;
use crate::segment::Stripes;
use crate::spread::Spread;
use crate::workers::idle_users::IdleUsers;

/// What an arrival rate has beside its users.
pub(crate) struct Open {
    pub(crate) idle: Rc<IdleUsers>,
    pub(crate) hard: Duration,
    spread: Spread,
    place: usize,
    /// Users of this lane, with those being made.
    pub(crate) users: Cell<usize>,
    pub(crate) own_max: Cell<usize>,
    /// The maximum over all workers, for the warning.
    pub(crate) max: Cell<u64>,
    pub(crate) making: Rc<Cell<bool>>,
    pub(crate) has_warned: Cell<bool>,
}

impl Open {
    /// `most` are the users of all workers at most.
    pub(crate) fn new(hard: Duration, users: usize, spread: Spread, most: u64, place: usize) -> Self {
        let own_max = spread.positions(place, most).count();
        assert!(users <= own_max && own_max as u64 <= most, "{users} users, {own_max} here, {most} on all workers");
        Open {
            idle: Rc::default(),
            hard,
            spread,
            place,
            users: Cell::new(users),
            own_max: Cell::new(own_max),
            max: Cell::new(most),
            making: Rc::default(),
            has_warned: Cell::new(false),
        }
    }

    /// Another maximum holds.
    pub(crate) fn allow(&self, most: u64) {
        if self.max.replace(most) < most {
            self.own_max.set(self.spread.positions(self.place, most).count());
        }
    }
}

/// The starts of one lane: the next one, and the plan they are from.
pub(crate) struct OwnStarts<'a> {
    pub(crate) stripes: &'a Stripes,
    /// Its number in this instance, and how far apart the lane's are.
    pub(crate) next: u64,
    pub(crate) step: u64,
}

impl OwnStarts<'_> {
    /// When the next one is due.
    pub(crate) fn at(&self, starts: &mut Starts<'_>) -> Option<Duration> {
        starts.at(self.stripes.unscale(self.next))
    }
}
