//! The samples of a run: those so far, those over time, and where VU 0 (`setup()`, `teardown()`) records its own.
//!
//! What VU 0 measures counts in the totals and is in the series over time, but has a place outside of the load there.

use std::rc::Rc;
use std::time::Duration;

use engine::Tick;
use journal::{IntervalTimes, Timeline};
use metrics::builtin::HTTP_REQ_DURATION;
use metrics::{Aggregate, Recorder, Snapshot};
use report::limit::{AnswerCourse, AnswerTimes};

use crate::commands::run::facts::target_cpu::TargetCpu;

/// All samples of a run, from `setup()` to the end of `teardown()`.
pub struct RunSamples {
    /// All of them so far.
    pub aggregate: Aggregate,
    /// Where VU 0 records.
    pub recorder: Rc<Recorder>,
    /// The series over time; none once they are taken.
    pub timeline: Option<Timeline>,
    /// The target, where it may be on this machine.
    pub target: Option<TargetCpu>,
    /// How long HTTP answers took, by the second.
    pub course: AnswerCourse,
}

impl RunSamples {
    /// Adds what VU 0 measured, and how long that took.
    pub fn add_aside(&mut self, took: Duration, snapshot: Snapshot) {
        self.timeline.iter_mut().for_each(|timeline| timeline.aside(took, &snapshot));
        self.aggregate.merge_aside(snapshot);
    }

    /// The same of what it has recorded until now.
    pub fn add_recorded(&mut self, took: Duration) {
        let snapshot = self.recorder.take();
        self.add_aside(took, snapshot);
    }

    /// Adds a second of the scenarios to the series. `port`: the only one of this machine that requests went to.
    pub fn tick(&mut self, tick: &Tick, port: Option<u16>) {
        let target = self.target.as_mut().and_then(|target| target.look(port));
        self.timeline.iter_mut().for_each(|timeline| timeline.tick(tick, target));
        if let Some(trend) = Snapshot::trend(&tick.snapshots, HTTP_REQ_DURATION) {
            let [p10, p50, p90] = trend.percentiles([10.0, 50.0, 90.0]);
            self.course.add(AnswerTimes { count: trend.count(), p10, p50, p90 });
        }
    }

    /// Adds an interval of a journal.
    pub fn restore(&mut self, times: IntervalTimes, samples: Snapshot) {
        self.timeline.iter_mut().for_each(|timeline| timeline.restore(times, std::slice::from_ref(&samples)));
        match times.is_load() {
            true => self.aggregate.merge(samples),
            false => self.aggregate.merge_aside(samples),
        }
    }
}
