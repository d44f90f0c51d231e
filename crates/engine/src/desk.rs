//! Where the users of an arrival rate wait for work: the pacer calls the one that has waited longest.
//!
//! Belongs to one lane. Calling costs a queue pop and a wake-up; nothing is allocated for an iteration.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::pacer::{Next, Pace, Turn};

/// The waiting users of one lane.
#[derive(Default)]
pub(crate) struct Desk {
    idle: RefCell<VecDeque<usize>>,
    places: RefCell<Vec<Place>>,
    closed: Cell<bool>,
}

#[derive(Default)]
struct Place {
    /// The planned start of the iteration to do.
    job: Option<Duration>,
    waker: Option<Waker>,
}

impl Desk {
    /// A place for one more user.
    pub(crate) fn place(self: &Rc<Self>, hard: Duration) -> Serving {
        let mut places = self.places.borrow_mut();
        places.push(Place::default());
        Serving { desk: Rc::clone(self), place: places.len() - 1, hard }
    }

    /// Gives the iteration planned for this time to a waiting user; false when nobody waits.
    pub(crate) fn call(&self, planned: Duration) -> bool {
        let Some(place) = self.idle.borrow_mut().pop_front() else { return false };
        let mut places = self.places.borrow_mut();
        places[place].job = Some(planned);
        let waker = places[place].waker.take();
        drop(places);
        waker.into_iter().for_each(Waker::wake);
        true
    }

    /// Sends everybody home: those who work now once they are done.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        let wakers: Vec<Waker> = self.places.borrow_mut().iter_mut().filter_map(|place| place.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// One user's place.
pub(crate) struct Serving {
    desk: Rc<Desk>,
    place: usize,
    hard: Duration,
}

impl Serving {
    /// Waits to be called or sent home.
    async fn called(&self) {
        self.desk.idle.borrow_mut().push_back(self.place);
        std::future::poll_fn(|context| self.poll_called(context)).await;
    }

    fn poll_called(&self, context: &Context<'_>) -> Poll<()> {
        let mut places = self.desk.places.borrow_mut();
        let place = &mut places[self.place];
        if place.job.is_some() || self.desk.closed.get() {
            return Poll::Ready(());
        }
        place.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Pace for Serving {
    fn next(&mut self, _elapsed: Duration, _begun: u64) -> Next {
        match self.desk.places.borrow_mut()[self.place].job.take() {
            Some(planned) => Next::Start(Turn { number: None, planned: Some(planned), hard: self.hard }),
            None if self.desk.closed.get() => Next::Done,
            None => Next::Rest,
        }
    }

    async fn rest(&self) {
        self.called().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;

    #[test]
    fn the_longest_waiting_is_called_and_nobody_when_all_are_busy() {
        let desk = Rc::new(Desk::default());
        let mut places: Vec<Serving> = (0..2).map(|_| desk.place(Duration::MAX)).collect();
        let planned = Duration::from_secs(3);
        assert!(!desk.call(planned), "nobody waits yet");
        FakeClock::new().run(async {
            assert_eq!(places[1].next(planned, 0), Next::Rest);
            let waiting = async { tokio::join!(places[1].rest(), places[0].rest()) };
            let calling = async {
                assert!(desk.call(planned));
                assert_eq!(desk.places.borrow()[1].job, Some(planned));
                assert!(desk.call(planned));
                assert!(!desk.call(planned));
            };
            tokio::join!(waiting, calling);
        });
        assert!(matches!(places[0].next(planned, 0), Next::Start(turn) if turn.planned == Some(planned)));
        desk.close();
        assert_eq!(places[0].next(planned, 1), Next::Done);
    }
}
