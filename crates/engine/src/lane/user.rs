//! What a user of a lane does: ask its pacer, iterate, be counted, ask again.
//!
//! Resumed by the table of its lane. The common way, from the end of an iteration to the beginning of the next, is a
//! call; what is rare (taking a user, going away, filling up an iteration) is a boxed future that the user waits for.

use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Iterated, Lane, Times};
use crate::clock::Clock;
use crate::pacer::{Next, Pace, Turn};
use crate::pool::Member;
use crate::run_queue::Resumable;
use crate::turns::BusyIterations;
use crate::vu::{IterationEnd, Progress, Users, VirtualUser};

/// A user that is being taken from the pool or made; none when there will be none.
pub(super) type Coming<U> = Pin<Box<dyn Future<Output = Option<Member<U>>>>>;

/// A user of a lane.
pub(super) struct LaneUser<F: Users, P> {
    lane: Rc<Lane<F>>,
    member: Option<Member<F::User>>,
    pace: P,
    at: At<F::User>,
    /// Iterations begun.
    begun: u64,
    busy: BusyIterations,
    /// Whether it has waited since the iteration began.
    has_waited: bool,
    /// The end of an iteration is the start of the next one, unless something was waited for in between.
    last_end: Option<Duration>,
    /// Told at the end how many were begun.
    count: Option<Box<dyn FnOnce(u64)>>,
}

/// What it is doing.
enum At<U> {
    /// Nothing: the pacer is asked.
    Between,
    /// It waits for something new to ask.
    Resting,
    /// It iterates.
    Iterating(Times, Turn),
    /// It waits for a user, for the iteration that is to begin or for none yet.
    Taking(Coming<U>, Option<Turn>),
    /// It waits for a time; then a turn that was filled up is over.
    Sleeping(Pin<Box<dyn Future<Output = ()>>>, Option<Turn>),
}

/// Whether a user goes on at once.
enum Step {
    On,
    Leaves(Progress<()>),
}

impl<F: Users, P: Pace> LaneUser<F, P> {
    /// A user who asks this pacer; one from the pool, unless another is being made. At its end `count` is told how many
    /// iterations it began.
    pub(super) fn new(
        lane: &Rc<Lane<F>>,
        made: Option<Coming<F::User>>,
        pace: P,
        count: impl FnOnce(u64) + 'static,
    ) -> LaneUser<F, P> {
        let at = made.map_or(At::Between, |made| At::Taking(made, None));
        LaneUser {
            lane: Rc::clone(lane),
            member: None,
            pace,
            at,
            begun: 0,
            busy: BusyIterations::default(),
            has_waited: false,
            last_end: None,
            count: Some(Box::new(count)),
        }
    }

    /// Asks what to do.
    fn ask(&mut self) -> Step {
        let worker = &self.lane.worker;
        if worker.is_halted() {
            return self.leave();
        }
        let now = self.last_end.take().unwrap_or_else(|| worker.clock.now());
        match self.pace.next(now.saturating_sub(self.lane.start), self.begun) {
            Next::Start(turn) if self.member.is_some() => self.begin(turn, now),
            Next::Start(turn) => self.take(Some(turn)),
            Next::Rest if self.member.is_some() => self.at = At::Resting,
            Next::Rest => self.take(None),
            Next::Away(until) => {
                self.lane.return_user(self.member.take());
                let until = self.lane.start + until;
                self.sleep(until, None);
            }
            Next::Done => return self.leave(),
        }
        Step::On
    }

    fn take(&mut self, turn: Option<Turn>) {
        self.at = At::Taking(Box::pin(Rc::clone(&self.lane).take_user()), turn);
    }

    fn sleep(&mut self, until: Duration, turn: Option<Turn>) {
        let worker = Rc::clone(&self.lane.worker);
        self.at = At::Sleeping(Box::pin(async move { worker.sleep_until(until).await }), turn);
    }

    fn leave(&mut self) -> Step {
        self.lane.return_user(self.member.take());
        self.count.take().into_iter().for_each(|count| count(self.begun));
        Step::Leaves(Progress::Over(()))
    }

    fn begin(&mut self, turn: Turn, now: Duration) {
        let member = self.member.as_mut().expect("whoever begins has a user");
        let (times, iteration) = self.lane.begin(member, turn, now);
        self.has_waited = false;
        member.user.begin(iteration);
        self.at = At::Iterating(times, turn);
    }

    fn iterate(&mut self, times: Times, turn: Turn, context: &mut Context<'_>) -> Step {
        let user = &mut self.member.as_mut().expect("whoever iterates has a user").user;
        match user.resume(context) {
            Progress::Over(end) => self.end(times, turn, end, context),
            progress => {
                self.has_waited = true;
                self.at = At::Iterating(times, turn);
                Step::Leaves(if progress == Progress::Again { Progress::Again } else { Progress::Waits })
            }
        }
    }

    fn end(&mut self, times: Times, turn: Turn, end: IterationEnd, context: &mut Context<'_>) -> Step {
        let member = self.member.as_mut().expect("whoever iterates has a user");
        self.begun += 1;
        let Iterated { ended, lost } = self.lane.end(member, &times, end);
        let least = self.lane.worker.min_iteration_duration;
        if let Some(text) = lost {
            self.lane.release(member, turn);
            self.lane.lose(self.member.take(), text);
            return Step::On;
        }
        if !least.is_zero() {
            // Part of the iteration, but not of its measured time.
            self.sleep((times.started + least).min(times.hard), Some(turn));
            return Step::On;
        }
        self.lane.release(member, turn);
        // A script that never waits must not keep the event loop from other tasks.
        if self.busy.is_over(self.has_waited, ended) {
            let given = pin!(tokio::task::yield_now()).poll(context);
            debug_assert!(given.is_pending(), "the first poll of yield_now is pending");
            return Step::Leaves(Progress::Waits);
        }
        self.last_end = Some(ended);
        Step::On
    }

    fn step(&mut self, context: &mut Context<'_>) -> Step {
        match std::mem::replace(&mut self.at, At::Between) {
            At::Between => self.ask(),
            At::Iterating(times, turn) => self.iterate(times, turn, context),
            // When the test is stopped, the pacing ends all users.
            At::Resting => match self.pace.poll_rest(context) {
                Poll::Ready(()) => Step::On,
                Poll::Pending => {
                    self.at = At::Resting;
                    Step::Leaves(Progress::Waits)
                }
            },
            At::Taking(mut coming, turn) => match coming.as_mut().poll(context) {
                Poll::Pending => {
                    self.at = At::Taking(coming, turn);
                    Step::Leaves(Progress::Waits)
                }
                Poll::Ready(None) => self.leave(),
                Poll::Ready(member) => {
                    self.member = member;
                    if let Some(turn) = turn {
                        self.begin(turn, self.lane.worker.clock.now());
                    }
                    Step::On
                }
            },
            At::Sleeping(mut sleep, turn) => match sleep.as_mut().poll(context) {
                Poll::Pending => {
                    self.at = At::Sleeping(sleep, turn);
                    Step::Leaves(Progress::Waits)
                }
                Poll::Ready(()) => {
                    if let (Some(turn), Some(member)) = (turn, &self.member) {
                        self.lane.release(member, turn);
                    }
                    Step::On
                }
            },
        }
    }
}

impl<F: Users, P: Pace> Resumable for LaneUser<F, P> {
    fn resume(&mut self, context: &mut Context<'_>) -> Progress<()> {
        loop {
            if let Step::Leaves(progress) = self.step(context) {
                return progress;
            }
        }
    }
}
