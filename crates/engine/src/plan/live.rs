//! What of a planned scenario a client may change while it runs.

use std::sync::Arc;

use super::{LanePlan, Work, most_users};
use crate::load_change::LivePlan;
use crate::pacer::Ramp;
use crate::scenario::{Executor, Stage};

impl LanePlan {
    /// What a client may change of it while it runs.
    pub(super) fn live(&self) -> LivePlan {
        let scenario = &self.scenario;
        match (&self.work, &scenario.executor) {
            (Work::Ramping { ramp, .. }, _) => {
                LivePlan::Users { ramp: Arc::clone(ramp), most: None, is_changed: false }
            }
            (Work::Looping { .. }, Executor::ConstantVus { vus, duration }) => {
                let (stage, grace) = (Stage { duration: *duration, target: *vus }, scenario.graceful_stop);
                let ramp = Arc::new(Ramp::new(*vus, &[stage], grace, grace));
                LivePlan::Users { ramp, most: None, is_changed: false }
            }
            (Work::Arriving { arrivals, .. }, executor) => {
                LivePlan::Starts { arrivals: Arc::clone(arrivals), most: most_users(executor), is_changed: false }
            }
            (Work::Looping { .. }, _) => LivePlan::Fixed,
        }
    }
}
