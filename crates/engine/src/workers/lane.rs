//! One scenario on one worker: its users, who ask their pacer, iterate and are counted.
//!
//! What a user does exists once, for all executors, in `lane_user`. Planned users come from the worker's pool and go
//! back to it when the pacer sends them away (`lane_taking`); an arrival rate has a pacing task beside them, which
//! starts idle ones and has unplanned ones made (`lane_starting`). Users whose number may change: `lane_changing`.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::pacer::{IterationShare, Looping, Ramping, Turn};
use crate::plan::{LanePlan, Work};
use crate::record::LaneRecord;
use crate::report::Report;
use crate::scenario::{Executor, ScenarioInfo};
use crate::stop::StopCause;
use crate::vu::{Iteration, IterationEnd, RareEnd, Users, VirtualUser};
use crate::workers::changing_users::{ChangingUsers, Positions};
use crate::workers::lane_user::LaneUser;
use crate::workers::open_users::{Open, OwnStarts};
use crate::workers::pool::Member;
use crate::workers::run_queue::RunQueue;
use crate::workers::worker::Worker;

/// A scenario's part on one worker.
pub(crate) struct Lane<F: Users> {
    pub(crate) worker: Rc<Worker<F>>,
    pub(super) info: Rc<ScenarioInfo>,
    record: LaneRecord,
    pub(crate) start: Duration,
    /// Whether users count as active only while they iterate (arrival rates) or for as long as the lane has them.
    pub(super) is_open: bool,
    /// The time of an arrival rate's last start, when the pacing task is done with it.
    pub(super) last_start: Cell<Option<Duration>>,
    /// The users whose number may change.
    pub(crate) changing: Rc<ChangingUsers>,
}

impl<F: Users> Lane<F> {
    /// The lane of scenario `index` in a test that starts at `test_start`.
    pub(crate) fn new(worker: Rc<Worker<F>>, index: usize, plan: &LanePlan, test_start: Duration) -> Rc<Self> {
        let scenario = &plan.scenario;
        let start = test_start + scenario.start_time;
        let is_open = plan.is_open();
        let info = ScenarioInfo {
            index,
            name: scenario.name.clone(),
            executor: scenario.executor.name(),
            exec: scenario.exec.clone(),
            env: scenario.env.clone(),
            tags: scenario.tags.clone(),
            started: start,
            is_planned: is_open,
            share: plan.spread.share(worker.index),
        };
        let record = worker.lane_record((&scenario.name, &scenario.tags), is_open);
        let (last_start, changing) = (Cell::new(None), Rc::default());
        Rc::new(Lane { worker, info: Rc::new(info), record, start, is_open, last_start, changing })
    }

    /// Runs the scenario to its end.
    pub(crate) async fn run(self: Rc<Self>, plan: LanePlan) {
        self.worker.sleep_until(self.start).await;
        self.work(plan).await;
        debug_assert!(
            self.worker.state.is_settled(self.worker.index, self.info.index),
            "each iteration of the scenario '{}' that began has ended and is counted",
            self.info.name
        );
        debug_assert!(
            self.worker.state.is_at_rest(self.worker.index, self.info.index),
            "each user who worked in the scenario '{}' is free again",
            self.info.name
        );
    }

    async fn work(self: &Rc<Self>, plan: LanePlan) {
        let (place, spread) = (self.worker.index, plan.spread);
        match plan.work {
            Work::Looping { vus, end, hard, .. } if matches!(plan.scenario.executor, Executor::ConstantVus { .. }) => {
                let positions = Positions { spread, stripes: plan.stripes, planned: vus };
                self.run_changing(positions, |_| Looping { end, hard, most: None, share: None }).await;
            }
            Work::Looping { vus, most, iterations, end, hard } => {
                let share = iterations.map(|all| Rc::new(IterationShare::new(all)));
                let users = spread.positions(place, vus).count();
                self.run_looping(users, || Looping { end, hard, most, share: share.clone() }, share.as_deref()).await;
            }
            Work::Ramping { vus, ramp, stripes } => {
                let positions = Positions { spread, stripes, planned: vus };
                self.run_changing(positions, |position| Ramping::new(ramp.spans(position))).await;
            }
            Work::Arriving { stripes, pre_allocated, max, hard, .. } => {
                let pre_allocated = spread.positions(place, pre_allocated).count();
                let open = Open::new(hard, pre_allocated, spread, max, place);
                if let Some((next, step)) = spread.stripe(place) {
                    self.run_arriving(open, OwnStarts { stripes: &stripes, next, step }).await;
                }
            }
        }
    }

    /// Users who iterate until their time or their iterations are over; what is left over is dropped.
    async fn run_looping(self: &Rc<Self>, users: usize, pace: impl Fn() -> Looping, share: Option<&IterationShare>) {
        if users == 0 {
            // A worker without users must not take what others are still doing.
            return;
        }
        let table = self.table();
        let left = Rc::new(Cell::new(0));
        for _ in 0..users {
            let (left, pace) = (Rc::clone(&left), pace());
            let most = pace.most;
            let count = move |begun| left.set(left.get() + most.map_or(0, |most| most - begun));
            table.add(LaneUser::new(self, None, pace, count));
        }
        table.join().await;
        // What an aborted test leaves undone was not dropped because of time.
        if !self.worker.is_halted() {
            self.drop_iterations(left.get() + share.map_or(0, IterationShare::take_rest));
        }
    }

    /// A table for the users of this lane.
    pub(super) fn table(&self) -> RunQueue {
        let worker = Rc::clone(&self.worker);
        RunQueue::new(move || worker.wake_ready())
    }

    pub(crate) fn return_user(&self, member: Option<Member<F::User>>) {
        let Some(member) = member else { return };
        if !self.is_open {
            self.worker.state.vu_active(self.worker.index, self.info.index, false);
        }
        self.worker.pool.put(member);
    }

    /// Goes on without a user that is stuck.
    pub(crate) fn lose(&self, member: Option<Member<F::User>>, text: String) {
        let Some(member) = member else { return };
        if !self.is_open {
            self.worker.state.vu_active(self.worker.index, self.info.index, false);
        }
        self.worker.pool.put_number_of(member);
        self.worker.report(Report::Lost(text));
    }

    /// An iteration starts `now`.
    pub(crate) fn begin(&self, member: &mut Member<F::User>, turn: Turn, now: Duration) -> (Times, Iteration) {
        debug_assert_eq!(turn.planned.is_some(), self.is_open, "arrival rates plan their starts, and no others do");
        debug_assert!(self.worker.state.started().is_some(), "no iteration begins before the scenarios do");
        let (worker, scenario) = (&self.worker, self.info.index);
        let in_scenario = member.begin(scenario);
        let hard = self.start + turn.hard;
        worker.set_deadline(member, hard);
        let (mut started, mut planned) = (now, now);
        if let Some(after_start) = turn.planned {
            // A planned start is compared with the clock itself.
            (started, planned) = (worker.clock.now(), self.start + after_start);
            debug_assert!(started >= planned, "nothing starts before its time: {started:?}, {planned:?}");
            self.record.lag(started.saturating_sub(planned), worker.clock.epoch_ns(started));
            worker.state.vu_active(worker.index, scenario, true);
            if let Some(last) = self.last_start.get() {
                // A start that was handed out in time may still have waited for its turn.
                worker.state.arrivals_behind(worker.index, scenario, started.saturating_sub(last));
            }
        }
        worker.state.iteration_started(worker.index, scenario);
        let iteration = Iteration { scenario: Rc::clone(&self.info), in_scenario, number: turn.number, planned };
        (Times { planned, started, hard }, iteration)
    }

    /// An iteration has ended, and is counted.
    pub(crate) fn end(&self, member: &mut Member<F::User>, times: &Times, end: IterationEnd) -> Iterated {
        let clock = &self.worker.clock;
        let ended = clock.now();
        debug_assert!(ended >= times.started, "the clock of a run does not go back");
        clock.nudge(ended);
        self.worker.loaded(ended);
        let at_ns = clock.epoch_ns(ended);
        member.user.ended(at_ns);
        Iterated { ended, lost: self.count(&member.user, end, times, (ended, at_ns)) }
    }

    /// The user is free for what comes next.
    pub(crate) fn release(&self, member: &Member<F::User>, turn: Turn) {
        member.interrupt.clear();
        if turn.planned.is_some() {
            self.worker.state.vu_active(self.worker.index, self.info.index, false);
        }
    }

    /// Counts an iteration; what to log when its user was lost.
    fn count(
        &self,
        user: &F::User,
        end: IterationEnd,
        times: &Times,
        (ended, at_ns): (Duration, u64),
    ) -> Option<String> {
        let (worker, scenario) = (&self.worker, self.info.index);
        let aborts = match end {
            IterationEnd::Completed => None,
            IterationEnd::Interrupted => return self.count_interrupted(at_ns, None),
            IterationEnd::Rare(end) => match *end {
                RareEnd::Lost(text) => return self.count_interrupted(at_ns, Some(text)),
                RareEnd::AbortTest(message) => Some(message),
            },
        };
        // The iteration that aborts the test ended where the script wanted it to: k6 counts it too.
        let from_plan = ended.saturating_sub(times.planned);
        self.record.completed(user, ended - times.started, from_plan, at_ns);
        worker.state.iteration_completed(worker.index, scenario);
        if let Some(message) = aborts {
            worker.stopper.stop(StopCause::Script(message));
        }
        None
    }

    /// Counts an iteration that was cut short; passes on what there is to log.
    // Cold: only the end of a scenario or of the test cuts iterations short.
    #[cold]
    fn count_interrupted(&self, at_ns: u64, text: Option<String>) -> Option<String> {
        self.record.interrupted(at_ns);
        self.worker.state.iteration_interrupted(self.worker.index, self.info.index);
        text
    }

    pub(super) fn drop_iterations(&self, count: u64) {
        let worker = &self.worker;
        self.record.dropped(count, worker.clock.epoch_ns(worker.clock.now()));
        worker.state.iterations_dropped(worker.index, self.info.index, count);
    }
}

/// The times of an iteration, by the engine's clock.
#[derive(Default)]
pub(crate) struct Times {
    planned: Duration,
    pub(crate) started: Duration,
    /// When it is interrupted.
    pub(crate) hard: Duration,
}

/// An iteration that is over.
pub(crate) struct Iterated {
    pub(crate) ended: Duration,
    /// What to log when its user is stuck for good.
    pub(crate) lost: Option<String>,
}
