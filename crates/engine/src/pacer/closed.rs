//! What a virtual user of a closed executor does next: it asks after each iteration, and the answer depends on elapsed
//! time and on how many iterations it has begun.
//!
//! Times are elapsed since the start of the scenario. No iteration starts at or after the regular end.

use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::ramp::ActiveSpan;
use super::shared_iterations::IterationShare;

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start an iteration.
    Start(Turn),
    /// Not wanted before this time: the virtual user is free for other scenarios meanwhile.
    Away(Duration),
    /// Nothing to do until a start comes (arrival rates).
    Rest,
    /// Never again in this scenario.
    Done,
}

/// One iteration to start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Its number, where iterations are numbered in advance.
    pub number: Option<u64>,
    /// When it should have started, where that was planned.
    pub planned: Option<Duration>,
    /// When it is interrupted.
    pub hard: Duration,
}

/// Answers one virtual user.
pub trait Pace {
    /// What to do at `elapsed`, after `begun` iterations.
    fn next(&mut self, elapsed: Duration, begun: u64) -> Next;

    /// Waits until there is something new to ask, after `Next::Rest`.
    fn poll_rest(&mut self, _context: &Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// Iterations one after the other: constant-vus, per-vu-iterations, shared-iterations.
#[derive(Debug)]
pub struct Looping {
    /// No iteration starts from here on.
    pub end: Duration,
    /// Iterations are interrupted here.
    pub hard: Duration,
    /// Iterations of this user at most.
    pub most: Option<u64>,
    /// Where the iterations come from, when they are shared.
    pub share: Option<Rc<IterationShare>>,
}

impl Pace for Looping {
    #[inline]
    fn next(&mut self, elapsed: Duration, begun: u64) -> Next {
        debug_assert!(self.end <= self.hard, "iterations begin until {:?}, run until {:?}", self.end, self.hard);
        debug_assert!(self.most.is_none_or(|most| begun <= most), "{begun} of {:?}", self.most);
        if elapsed >= self.end || self.most.is_some_and(|most| begun >= most) {
            return Next::Done;
        }
        let number = match &self.share {
            None => None,
            Some(share) => match share.take() {
                None => return Next::Done,
                number => number,
            },
        };
        Next::Start(Turn { number, planned: None, hard: self.hard })
    }
}

/// Iterations while wanted: ramping-vus.
#[derive(Debug)]
pub struct Ramping {
    spans: std::vec::IntoIter<ActiveSpan>,
    now: Option<ActiveSpan>,
}

impl Ramping {
    /// Of the user with these spans.
    pub fn new(spans: Vec<ActiveSpan>) -> Self {
        assert!(spans.windows(2).all(|pair| pair[0].to < pair[1].from), "none touches the next: {spans:?}");
        let mut spans = spans.into_iter();
        Ramping { now: spans.next(), spans }
    }
}

impl Pace for Ramping {
    fn next(&mut self, elapsed: Duration, _begun: u64) -> Next {
        while self.now.is_some_and(|span| span.to <= elapsed) {
            self.now = self.spans.next();
        }
        match self.now {
            None => Next::Done,
            Some(span) if elapsed < span.from => Next::Away(span.from),
            Some(span) => Next::Start(Turn { number: None, planned: None, hard: span.hard }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::SharedIterations;

    const fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn start(hard: Duration) -> Next {
        Next::Start(Turn { number: None, planned: None, hard })
    }

    #[test]
    fn looping_ends_by_time_and_by_count() {
        let mut pace = Looping { end: s(10), hard: s(40), most: Some(2), share: None };
        assert_eq!(pace.next(s(0), 0), start(s(40)));
        assert_eq!(pace.next(s(9), 1), start(s(40)));
        assert_eq!(pace.next(s(9), 2), Next::Done);
        assert_eq!(pace.next(s(10), 1), Next::Done);
    }

    #[test]
    fn shared_iterations_end_when_they_are_all_dealt() {
        let share = Some(Rc::new(IterationShare::new(SharedIterations::new(1, 1))));
        let mut pace = Looping { end: s(10), hard: s(40), most: None, share };
        assert!(matches!(pace.next(s(0), 0), Next::Start(Turn { number: Some(0), .. })));
        assert_eq!(pace.next(s(0), 1), Next::Done);
    }

    #[test]
    fn ramping_goes_away_between_its_spans() {
        let span = |from, to, hard| ActiveSpan { from: s(from), to: s(to), hard: s(hard) };
        let mut pace = Ramping::new(vec![span(1, 3, 4), span(6, 8, 9)]);
        assert_eq!(pace.next(s(0), 0), Next::Away(s(1)));
        assert_eq!(pace.next(s(2), 0), start(s(4)));
        assert_eq!(pace.next(s(3), 1), Next::Away(s(6)));
        assert_eq!(pace.next(s(7), 1), start(s(9)));
        assert_eq!(pace.next(s(8), 2), Next::Done);
    }
}
