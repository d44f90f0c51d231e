//! A lane whose number of users a client may change: it follows the plan, and the changed one when there is one.
//!
//! Then users that are away are woken, those that iterate get a new deadline, and positions without a user get one.

use std::rc::Rc;
use std::sync::Arc;

use crate::clock::Clock;
use crate::load_change::LivePlan;
use crate::pacer::{Pace, Ramp};
use crate::segment::Stripes;
use crate::vu::Users;
use crate::workers::changing_users::{ChangingPace, Positions};
use crate::workers::lane::Lane;
use crate::workers::lane_user::LaneUser;
use crate::workers::run_queue::RunQueue;
use crate::workers::worker::Tasks;

impl<F: Users> Lane<F> {
    /// Runs users to the end of the plan, with what it becomes meanwhile. `pace` is by positions of the whole test.
    pub(crate) async fn run_changing<P: Pace + 'static>(
        self: &Rc<Self>,
        positions: Positions,
        pace: impl Fn(u64) -> P,
    ) {
        let own = |users: u64| positions.spread.positions(self.worker.index, users);
        if own(positions.planned).next().is_none() {
            // Users who come later are where the first ones are.
            return;
        }
        let users = Rc::new(self.table());
        for position in own(positions.planned) {
            self.add(&users, position, &positions.stripes, &pace);
        }
        users.begin().await;
        let mut beside = Tasks::default();
        let running = Rc::clone(&users);
        beside.spawn(async move { running.run().await });
        self.follow(&users, &positions, &pace).await;
        users.close();
        beside.join().await;
    }

    fn add<P: Pace + 'static>(
        self: &Rc<Self>,
        users: &RunQueue,
        position: u64,
        stripes: &Stripes,
        pace: &impl Fn(u64) -> P,
    ) {
        let (shared, in_test) = (Rc::clone(&self.changing), stripes.unscale(position));
        shared.present.borrow_mut().insert(position);
        // What was changed before it came, it learns when it asks for the first time.
        let pace = ChangingPace {
            planned: pace(in_test),
            users: Rc::clone(&shared),
            position: in_test,
            seen: 0,
            changed: None,
        };
        let gone = move |_| {
            shared.present.borrow_mut().remove(&position);
        };
        users.add(LaneUser::new(self, None, pace, gone).at(position));
    }

    /// Takes changes over until no user is wanted any more.
    async fn follow<P: Pace + 'static>(
        self: &Rc<Self>,
        users: &RunQueue,
        positions: &Positions,
        pace: &impl Fn(u64) -> P,
    ) {
        let mut plans = self.worker.state.load().follow(self.info.index);
        loop {
            let LivePlan::Users { ramp, is_changed, .. } = plans.borrow_and_update().clone() else {
                unreachable!("bug: users follow a ramp");
            };
            if is_changed {
                self.adopt(&ramp, users, positions, pace);
            }
            let last = ramp.last_wanted(positions.stripes.unscale(0));
            let either = async {
                tokio::select! {
                    biased;
                    changed = plans.changed() => changed.is_ok(),
                    () = self.worker.clock.sleep_until(self.start + last) => false,
                }
            };
            if self.worker.unless_halted(either).await != Some(true) {
                return;
            }
        }
    }

    fn adopt<P: Pace + 'static>(
        self: &Rc<Self>,
        ramp: &Arc<Ramp>,
        users: &RunQueue,
        positions: &Positions,
        pace: &impl Fn(u64) -> P,
    ) {
        let Positions { spread, stripes, .. } = positions;
        let shared = &self.changing;
        if shared.ramp.borrow().as_ref().is_some_and(|known| Arc::ptr_eq(known, ramp)) {
            return;
        }
        *shared.ramp.borrow_mut() = Some(Arc::clone(ramp));
        shared.changes.set(shared.changes.get() + 1);
        self.worker.is_changed.set(true);
        let wanted = stripes.scale(ramp.number(ramp.end()));
        let missing: Vec<u64> = {
            let present = shared.present.borrow();
            spread.positions(self.worker.index, wanted).filter(|position| !present.contains(position)).collect()
        };
        missing.into_iter().for_each(|position| self.add(users, position, stripes, pace));
        let elapsed = self.worker.clock.now().saturating_sub(self.start);
        for (position, interrupt) in &*shared.at_work.borrow() {
            let spans = ramp.spans(stripes.unscale(*position));
            // Between iterations there is no deadline.
            let of_now =
                spans.iter().rev().find(|span| span.from <= elapsed).filter(|_| interrupt.deadline().is_some());
            of_now.into_iter().for_each(|span| self.worker.move_deadline(interrupt, self.start + span.hard));
        }
        shared.changed.notify_waiters();
    }
}
