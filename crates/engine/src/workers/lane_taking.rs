//! How a lane comes by its users: from the worker's pool, where those that the plan counted wait. Once a client has
//! changed the plan the pool may have too few of them, and more are made, one after the other.

use std::rc::Rc;

use crate::report::Report;
use crate::vu::Users;
use crate::workers::lane::Lane;
use crate::workers::pool::{Free, Member};

impl<F: Users> Lane<F> {
    /// A user from the pool, made again when it was lost; none when the test is stopped meanwhile.
    pub(crate) async fn take_user(self: Rc<Self>) -> Option<Member<F::User>> {
        let member = match self.free_user().await? {
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

    async fn free_user(&self) -> Option<Free<F::User>> {
        let worker = &self.worker;
        if !worker.is_changed.get() {
            return worker.unless_halted(worker.pool.take()).await;
        }
        if let Some(free) = worker.pool.try_take() {
            return Some(free);
        }
        // One at a time, and sockets have their turn in between: users at work must not wait for all of them.
        let _turn = worker.unless_halted(worker.making.lock()).await?;
        tokio::task::yield_now().await;
        if let Some(free) = worker.pool.try_take() {
            return Some(free);
        }
        let id = worker.next_user();
        let made = worker.make_first(id).await;
        let refuse = |error: crate::vu::CreateError| worker.report(Report::NotMade(error.of(&format!("VU {id}"))));
        made.map_err(refuse).ok().map(Free::Member)
    }
}
