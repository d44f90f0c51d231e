//! What a user of a lane does: ask its pacer, iterate, be counted, ask again.
//!
//! Resumed by the table of its lane, which also gets what its script asks for. The common way, from the end of an
//! iteration to the beginning of the next, is a call; what is rare (taking a user, going away, filling up an iteration)
//! is a boxed future that the user waits for.

use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::Clock;
use crate::pacer::{Next, Pace, Turn};
use crate::vu::{IterationEnd, Progress, Users, VirtualUser};
use crate::workers::lane::{Iterated, Lane, Times};
use crate::workers::pool::Member;
use crate::workers::run_queue::Resumable;
use crate::workers::turns::BusyIterations;

/// A user that is being taken from the pool or made; none when there will be none.
pub(crate) type PendingMember<U> = Pin<Box<dyn Future<Output = Option<Member<U>>>>>;

/// A user of a lane.
pub(crate) struct LaneUser<F: Users, P> {
    lane: Rc<Lane<F>>,
    member: Option<Member<F::User>>,
    pace: P,
    state: State<F::User>,
    /// Of the iteration that runs, or ran last.
    times: Times,
    turn: Turn,
    /// Iterations begun.
    begun: u64,
    busy: BusyIterations,
    /// Whether it has waited since the iteration began.
    has_waited: bool,
    /// The end of an iteration is the start of the next one, unless something was waited for in between.
    last_end: Option<Duration>,
    /// Its position in this instance, where the number of users may change.
    position: Option<u64>,
    /// Told at the end how many were begun.
    count: Option<Box<dyn FnOnce(u64)>>,
}

/// What it is doing.
enum State<U> {
    /// Nothing: the pacer is asked.
    Between,
    /// It waits for something new to ask.
    Resting,
    /// It iterates.
    Iterating,
    /// It waits for a user, for the iteration that is to begin or for none yet.
    Taking(PendingMember<U>, Option<Turn>),
    /// It waits for a time, and for the end of an iteration if it has a user.
    Sleeping(Pin<Box<dyn Future<Output = ()>>>),
}

/// Whether a user goes on at once.
enum Step {
    Continue,
    Return(Progress<()>),
}

impl<F: Users, P: Pace> LaneUser<F, P> {
    /// A user who asks this pacer; one from the pool, unless another is being made. At its end `count` is told how
    /// many iterations it began.
    pub(crate) fn new(
        lane: &Rc<Lane<F>>,
        made: Option<PendingMember<F::User>>,
        pace: P,
        count: impl FnOnce(u64) + 'static,
    ) -> LaneUser<F, P> {
        let state = made.map_or(State::Between, |made| State::Taking(made, None));
        LaneUser {
            lane: Rc::clone(lane),
            member: None,
            pace,
            state,
            times: Times::default(),
            turn: Turn::default(),
            begun: 0,
            busy: BusyIterations::default(),
            has_waited: false,
            last_end: None,
            position: None,
            count: Some(Box::new(count)),
        }
    }

    /// The same at a position of a lane whose number of users may change.
    pub(crate) fn at(self, position: u64) -> LaneUser<F, P> {
        LaneUser { position: Some(position), ..self }
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
            Next::Rest if self.member.is_some() => self.state = State::Resting,
            Next::Rest => self.take(None),
            Next::Away(until) => {
                self.give_back();
                self.be_away(self.lane.start + until);
            }
            Next::Done => return self.leave(),
        }
        Step::Continue
    }

    fn take(&mut self, turn: Option<Turn>) {
        debug_assert!(self.member.is_none(), "one user is enough");
        // Boxed, so that a user that iterates is not as large as one that is being made.
        self.state = State::Taking(Box::pin(Rc::clone(&self.lane).take_user()), turn);
    }

    fn sleep(&mut self, until: Duration) {
        let worker = Rc::clone(&self.lane.worker);
        // Boxed for the same reason.
        self.state = State::Sleeping(Box::pin(async move { worker.sleep_until(until).await }));
    }

    /// Sleeps without a user, but not beyond a change of the plan.
    fn be_away(&mut self, until: Duration) {
        let (worker, changing) = (Rc::clone(&self.lane.worker), Rc::clone(&self.lane.changing));
        self.state = State::Sleeping(Box::pin(async move {
            tokio::select! {
                biased;
                () = worker.sleep_until(until) => {}
                () = changing.changed() => {}
            }
        }));
    }

    fn give_back(&mut self) {
        self.position.iter().for_each(|position| self.lane.changing.hold(*position, None));
        self.lane.return_user(self.member.take());
    }

    fn leave(&mut self) -> Step {
        debug_assert!(self.count.is_some(), "a user leaves once");
        self.give_back();
        self.count.take().into_iter().for_each(|count| count(self.begun));
        Step::Return(Progress::Over(()))
    }

    fn begin(&mut self, turn: Turn, now: Duration) {
        debug_assert!(matches!(self.state, State::Between), "an iteration begins when the one before has ended");
        let member = self.member.as_mut().expect("whoever begins has a user");
        let (times, iteration) = self.lane.begin(member, turn, now);
        (self.times, self.turn, self.has_waited) = (times, turn, false);
        member.user.begin(iteration);
        self.state = State::Iterating;
    }

    fn end(&mut self, end: IterationEnd, context: &mut Context<'_>) -> Step {
        debug_assert!(matches!(self.state, State::Iterating), "an iteration ends once");
        let member = self.member.as_mut().expect("whoever iterates has a user");
        self.state = State::Between;
        self.begun += 1;
        let Iterated { ended, lost } = self.lane.end(member, &self.times, end);
        if let Some(text) = lost {
            self.lane.release(member, self.turn);
            self.position.iter().for_each(|position| self.lane.changing.hold(*position, None));
            self.lane.lose(self.member.take(), text);
            return Step::Continue;
        }
        let least = self.lane.worker.min_iteration_duration;
        if !least.is_zero() {
            // Part of the iteration, but not of its measured time.
            self.sleep((self.times.started + least).min(self.times.hard));
            return Step::Continue;
        }
        self.lane.release(member, self.turn);
        // A script that never waits must not keep the event loop from other tasks.
        if self.busy.is_over(self.has_waited, ended) {
            let given = pin!(tokio::task::yield_now()).poll(context);
            debug_assert!(given.is_pending(), "the first poll of yield_now is pending");
            return Step::Return(Progress::Waits);
        }
        self.last_end = Some(ended);
        Step::Continue
    }

    /// What is not iterating.
    // Not inlined: each poll of a user that iterates passes here, and this would be on its way.
    #[inline(never)]
    fn wait(&mut self, context: &mut Context<'_>) -> Step {
        match &mut self.state {
            State::Between | State::Iterating => {}
            // When the test is stopped, the pacing ends all users.
            State::Resting => match self.pace.poll_rest(context) {
                Poll::Pending => return Step::Return(Progress::Waits),
                Poll::Ready(()) => self.state = State::Between,
            },
            State::Taking(pending, turn) => match pending.as_mut().poll(context) {
                Poll::Pending => return Step::Return(Progress::Waits),
                Poll::Ready(None) => return self.leave(),
                Poll::Ready(member) => {
                    let turn = turn.take();
                    (self.member, self.state) = (member, State::Between);
                    if let (Some(position), Some(member)) = (self.position, &self.member) {
                        self.lane.changing.hold(position, Some(&member.interrupt));
                    }
                    if let Some(turn) = turn {
                        self.begin(turn, self.lane.worker.clock.now());
                    }
                }
            },
            State::Sleeping(sleep) => match sleep.as_mut().poll(context) {
                Poll::Pending => return Step::Return(Progress::Waits),
                Poll::Ready(()) => {
                    self.state = State::Between;
                    self.member.iter().for_each(|member| self.lane.release(member, self.turn));
                }
            },
        }
        Step::Continue
    }
}

impl<F: Users, P: Pace> Resumable for LaneUser<F, P> {
    fn resume(&mut self, context: &mut Context<'_>) -> Progress<()> {
        loop {
            let step = match (&self.state, &mut self.member) {
                (State::Iterating, Some(member)) => match member.user.resume(context) {
                    Progress::Over(end) => self.end(end, context),
                    Progress::Asks => {
                        self.has_waited = true;
                        return Progress::Asks;
                    }
                    Progress::Waits => {
                        self.has_waited = true;
                        return Progress::Waits;
                    }
                },
                (State::Between, _) => self.ask(),
                _ => self.wait(context),
            };
            if let Step::Return(progress) = step {
                return progress;
            }
        }
    }

    #[inline]
    fn attend(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.member.as_mut().map_or(Poll::Ready(()), |member| member.user.attend(context))
    }
}
