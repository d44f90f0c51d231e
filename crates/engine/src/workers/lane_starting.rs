//! An arrival rate on one worker: a pacing task starts idle users at the planned times, and has unplanned ones made.
//!
//! The plan is read anew when a client has changed it: at each start, which costs a look at a number, and while a start
//! is further away than a change takes to hold. Starts before the change are the same in both plans.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::Clock;
use crate::load_change::{CHANGE_LEAD, LivePlan};
use crate::pacer::Arrivals;
use crate::report::Report;
use crate::vu::Users;
use crate::workers::lane::Lane;
use crate::workers::lane_user::LaneUser;
use crate::workers::open_users::{Open, OwnStarts};
use crate::workers::run_queue::RunQueue;
use crate::workers::turns::LateStarts;
use crate::workers::worker::Tasks;

/// Why no more iterations are started.
enum Pause {
    /// The test is halted.
    Halted,
    /// The plan is another one now.
    Changed,
    /// The plan has no more starts.
    Done,
}

impl<F: Users> Lane<F> {
    /// Users who wait for work, and the pacing that starts them.
    pub(crate) async fn run_arriving(self: &Rc<Self>, open: Open, own: OwnStarts<'_>) {
        let users = Rc::new(self.table());
        for _ in 0..open.users.get() {
            users.add(LaneUser::new(self, None, open.idle.join(open.hard), |_| {}));
        }
        // They become idle before the first start looks for one.
        users.settle().await;
        let mut beside = Tasks::default();
        let running = Rc::clone(&users);
        beside.spawn(async move { running.run().await });
        self.pace(&open, own, &users).await;
        open.idle.close();
        users.close();
        beside.join().await;
    }

    /// Starts iterations at their planned times, and says how far behind the last of them was.
    async fn pace(self: &Rc<Self>, open: &Open, mut own: OwnStarts<'_>, users: &RunQueue) {
        let mut plans = self.worker.state.load().follow(self.info.index);
        loop {
            let LivePlan::Starts { arrivals, most, .. } = plans.borrow_and_update().clone() else {
                unreachable!("bug: an arrival rate plans its starts");
            };
            open.allow(self.worker.stripes().scale(most));
            let (last, pause) = self.start_all(open, &arrivals, &mut own, &plans, users).await;
            if !matches!(pause, Pause::Changed) {
                self.last_start.set(Some(last));
                let behind = self.worker.clock.now().saturating_sub(last);
                self.worker.state.arrivals_behind(self.worker.index, self.info.index, behind);
                let end = self.start + arrivals.end();
                let changes = async { plans.changed().await.is_ok() };
                if self.unless_changed(self.worker.clock.sleep_until(end), changes).await == Some(false) {
                    // A rate is one of its whole time, also when its last iterations were quick.
                    self.worker.loaded(end);
                }
                if self.worker.is_halted() || self.worker.clock.now() >= end {
                    return;
                }
            }
            self.last_start.set(None);
        }
    }

    /// Sleeps until a change: true; false when the sleep is over, none when the test is halted.
    async fn unless_changed(
        &self,
        sleep: impl Future<Output = ()>,
        changes: impl Future<Output = bool>,
    ) -> Option<bool> {
        let either = async {
            tokio::select! {
                biased;
                () = sleep => false,
                changed = changes => changed,
            }
        };
        self.worker.unless_halted(either).await
    }

    /// Starts iterations until the plan has no more or is another one, or the test is halted. Returns when the last was
    /// due.
    async fn start_all(
        self: &Rc<Self>,
        open: &Open,
        arrivals: &Arc<Arrivals>,
        own: &mut OwnStarts<'_>,
        plans: &watch::Receiver<LivePlan>,
        users: &RunQueue,
    ) -> (Duration, Pause) {
        let mut halted = std::pin::pin!(self.worker.halted());
        halted.as_mut().enable();
        let (mut late, mut starts, mut last) = (LateStarts::default(), arrivals.starts(), self.start);
        while let Some(planned) = own.at(&mut starts) {
            if plans.has_changed().unwrap_or(false) {
                return (last, Pause::Changed);
            }
            debug_assert!(self.start + planned >= last, "starts come in order: {last:?}, then {planned:?}");
            let is_late = self.worker.clock.now() >= self.start + planned;
            if late.is_over(is_late) {
                tokio::task::yield_now().await;
            }
            if !is_late {
                let due = self.start + planned;
                // A nearer start is before any change that comes from now on.
                if due > self.worker.clock.now() + CHANGE_LEAD && !self.sleep_towards(due, plans).await {
                    return (last, self.pause());
                }
                tokio::select! {
                    biased;
                    () = self.worker.clock.sleep_until(due) => {}
                    () = &mut halted => return (due, Pause::Halted),
                }
            }
            if self.worker.is_halted() {
                return (self.start + planned, Pause::Halted);
            }
            last = self.start + planned;
            own.next += own.step;
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
        (last, Pause::Done)
    }

    /// Sleeps until a start is near; false when the plan is another one before, or the test is halted.
    async fn sleep_towards(&self, due: Duration, plans: &watch::Receiver<LivePlan>) -> bool {
        let mut plans = plans.clone();
        let near = self.worker.clock.sleep_until(due - CHANGE_LEAD);
        self.unless_changed(near, async { plans.changed().await.is_ok() }).await == Some(false)
    }

    fn pause(&self) -> Pause {
        if self.worker.is_halted() { Pause::Halted } else { Pause::Changed }
    }

    /// Has one more user made, one at a time, up to the scenario's maximum.
    fn want_user(self: &Rc<Self>, open: &Open, users: &RunQueue) {
        if open.making.get() {
            return;
        }
        if open.users.get() >= open.own_max.get() {
            if !open.has_warned.replace(true) {
                self.worker.report(Report::Insufficient { scenario: self.info.index, vus: open.max.get() });
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
}
