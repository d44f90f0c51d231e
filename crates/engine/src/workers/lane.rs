//! One scenario on one worker: its users, who ask their pacer, iterate and are counted.
//!
//! What a user does exists once, for all executors, in `lane_user`. Planned users come from the worker's pool and go
//! back to it when the pacer sends them away; an arrival rate has a pacing task beside them, which starts idle ones and
//! has unplanned ones made.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::pacer::{Arrivals, IterationShare, Looping, Ramping, Turn};
use crate::plan::{LanePlan, Work};
use crate::record::LaneRecord;
use crate::report::Report;
use crate::scenario::ScenarioInfo;
use crate::segment::Stripes;
use crate::stop::StopCause;
use crate::vu::{Iteration, IterationEnd, RareEnd, Users, VirtualUser};
use crate::workers::idle_users::IdleUsers;
use crate::workers::lane_user::LaneUser;
use crate::workers::pool::{Free, Member};
use crate::workers::run_queue::RunQueue;
use crate::workers::turns::LateStarts;
use crate::workers::worker::{Tasks, Worker};

/// A scenario's part on one worker.
pub(crate) struct Lane<F: Users> {
    pub(crate) worker: Rc<Worker<F>>,
    info: Rc<ScenarioInfo>,
    record: LaneRecord,
    pub(crate) start: Duration,
    /// Whether users count as active only while they iterate (arrival rates) or for as long as the lane has them.
    is_open: bool,
    /// The time of an arrival rate's last start, when the pacing task is done with it.
    last_start: Cell<Option<Duration>>,
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
        Rc::new(Lane { worker, info: Rc::new(info), record, start, is_open, last_start: Cell::new(None) })
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
            Work::Looping { vus, most, iterations, end, hard } => {
                let share = iterations.map(|all| Rc::new(IterationShare::new(all)));
                let users = spread.positions(place, vus).count();
                self.run_looping(users, || Looping { end, hard, most, share: share.clone() }, share.as_deref()).await;
            }
            Work::Ramping { vus, ramp, stripes } => {
                let users = self.table();
                for position in spread.positions(place, vus) {
                    let pace = Ramping::new(ramp.spans(stripes.unscale(position)));
                    users.add(LaneUser::new(self, None, pace, |_| {}));
                }
                users.join().await;
            }
            Work::Arriving { arrivals, stripes, pre_allocated, max, hard } => {
                let pre_allocated = spread.positions(place, pre_allocated).count();
                let own_max = spread.positions(place, max).count();
                let open = Open::new(hard, pre_allocated, own_max, max);
                if let Some(stripe) = spread.stripe(place) {
                    self.run_arriving(open, &arrivals, &stripes, stripe).await;
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

    /// Users who wait for work, and the pacing that starts them.
    async fn run_arriving(self: &Rc<Self>, open: Open, arrivals: &Arrivals, stripes: &Stripes, stripe: (u64, u64)) {
        let users = Rc::new(self.table());
        for _ in 0..open.users.get() {
            users.add(LaneUser::new(self, None, open.idle.join(open.hard), |_| {}));
        }
        // They become idle before the first start looks for one.
        users.settle().await;
        let mut beside = Tasks::default();
        let running = Rc::clone(&users);
        beside.spawn(async move { running.run().await });
        self.pace(&open, arrivals, stripes, stripe, &users).await;
        open.idle.close();
        users.close();
        beside.join().await;
    }

    /// A table for the users of this lane.
    fn table(&self) -> RunQueue {
        let worker = Rc::clone(&self.worker);
        RunQueue::new(move || worker.wake_ready())
    }

    /// A user from the pool, made again when it was lost; none when the test is stopped meanwhile.
    pub(crate) async fn take_user(self: Rc<Self>) -> Option<Member<F::User>> {
        let member = match self.worker.unless_halted(self.worker.pool.take()).await? {
            Free::Member(member) => member,
            Free::Number(id) => match self.worker.make(id).await {
                Ok(member) => member,
                Err(error) => {
                    // Fewer users than the scenario promises are no success.
                    let user = format!("VU {id} for scenario '{}', in place of one that was given up", self.info.name);
                    self.worker.report(Report::Failed(error.of(&user)));
                    return None;
                }
            },
        };
        if !self.is_open {
            self.worker.state.vu_active(self.worker.index, self.info.index, true);
        }
        Some(member)
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

    /// Starts iterations at their planned times, and says how far behind the last of them was.
    async fn pace(
        self: &Rc<Self>,
        open: &Open,
        arrivals: &Arrivals,
        stripes: &Stripes,
        stripe: (u64, u64),
        users: &RunQueue,
    ) {
        let last = self.start_all(open, (arrivals, stripes), stripe, users).await;
        self.last_start.set(Some(last));
        let behind = self.worker.clock.now().saturating_sub(last);
        self.worker.state.arrivals_behind(self.worker.index, self.info.index, behind);
        let end = self.start + arrivals.end();
        self.worker.sleep_until(end).await;
        if !self.worker.is_halted() {
            // A rate is one of its whole time, also when its last iterations were quick.
            self.worker.loaded(end);
        }
    }

    /// Starts iterations until the plan has no more or the test is halted. Returns when the last was due.
    async fn start_all(
        self: &Rc<Self>,
        open: &Open,
        (arrivals, stripes): (&Arrivals, &Stripes),
        (first, step): (u64, u64),
        users: &RunQueue,
    ) -> Duration {
        let mut halted = std::pin::pin!(self.worker.halted());
        halted.as_mut().enable();
        let (mut late, mut starts, mut last) = (LateStarts::default(), arrivals.starts(), self.start);
        for k in (0..).map(|n| first + n * step) {
            let Some(planned) = starts.at(stripes.unscale(k)) else { break };
            debug_assert!(self.start + planned >= last, "starts come in order: {last:?}, then {planned:?}");
            last = self.start + planned;
            let is_late = self.worker.clock.now() >= last;
            if late.is_over(is_late) {
                tokio::task::yield_now().await;
            }
            if !is_late {
                tokio::select! {
                    biased;
                    () = self.worker.clock.sleep_until(self.start + planned) => {}
                    () = &mut halted => return last,
                }
            }
            if self.worker.is_halted() {
                return last;
            }
            if open.idle.start_one(planned) {
                continue;
            }
            if is_late {
                // Whoever was done by then may not have had its turn on this thread yet: that is no dropped start.
                tokio::task::yield_now().await;
                if open.idle.start_one(planned) {
                    continue;
                }
            }
            self.drop_iterations(1);
            self.want_user(open, users);
        }
        last
    }

    /// Has one more user made, one at a time, up to the scenario's maximum.
    fn want_user(self: &Rc<Self>, open: &Open, users: &RunQueue) {
        if open.making.get() {
            return;
        }
        if open.users.get() >= open.own_max {
            if !open.has_warned.replace(true) {
                self.worker.report(Report::Insufficient { scenario: self.info.index, vus: open.max });
            }
            return;
        }
        open.making.set(true);
        open.users.set(open.users.get() + 1);
        let (lane, making) = (Rc::clone(self), Rc::clone(&open.making));
        let made = async move {
            let id = lane.worker.next_user();
            let made = lane.worker.make_first(id).await;
            making.set(false);
            made.map_err(|error| lane.worker.report(Report::NotMade(error.of(&format!("unplanned VU {id}"))))).ok()
        };
        // Boxed, because users from the pool and new ones are waited for in the same place.
        users.add(LaneUser::new(self, Some(Box::pin(made)), open.idle.join(open.hard), |_| {}));
    }

    fn drop_iterations(&self, count: u64) {
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

/// What an arrival rate has beside its users.
struct Open {
    idle: Rc<IdleUsers>,
    hard: Duration,
    /// Users of this lane, with those being made.
    users: Cell<usize>,
    own_max: usize,
    /// The maximum over all workers, for the warning.
    max: u64,
    making: Rc<Cell<bool>>,
    has_warned: Cell<bool>,
}

impl Open {
    fn new(hard: Duration, users: usize, own_max: usize, max: u64) -> Self {
        assert!(users <= own_max && own_max as u64 <= max, "{users} users, {own_max} here, {max} on all workers");
        Open {
            idle: Rc::default(),
            hard,
            users: Cell::new(users),
            own_max,
            max,
            making: Rc::default(),
            has_warned: Cell::new(false),
        }
    }
}
