//! How the generator fares while it runs: over the last two ticks, of each worker and of all.
//!
//! Two ticks, because what begins between them is seen whole in the next but one. A worker that does not report is
//! stuck in a long call or has no core; the collector tells which by the times of its thread.

use std::collections::VecDeque;
use std::time::Duration;

use crate::beats::{BEAT, Gap, SecondOfBeats, occupation};
use crate::clock::{ThreadTimer, ThreadTimes, Usage};
use crate::health::{ArrivalCounts, Health, LagFigures, WorkerHealth};
use crate::state::{Counts, RunState};

/// How a worker fared over its last two reports. Beats are those of three: a stop that delays a report is in that one,
/// and the iterations that it delayed are told by the next.
pub(crate) struct Lately {
    from: Usage,
    last: Usage,
    beats: [SecondOfBeats; 2],
}

impl Lately {
    /// From now on.
    pub(crate) fn since(now: Usage) -> Lately {
        Lately { from: now.clone(), last: now, beats: Default::default() }
    }

    /// A report is due; `fresh` are the beats since the last one.
    pub(crate) fn look(&mut self, now: Usage, fresh: SecondOfBeats) -> WorkerHealth {
        let [first, second] = &self.beats;
        let lags = [first, second, &fresh].into_iter().flat_map(|beats| beats.lags.iter().copied()).collect::<Vec<_>>();
        let mut stops = first.stops.clone();
        stops.merge(&second.stops);
        stops.merge(&fresh.stops);
        let health = WorkerHealth::between(&self.from, &now, LagFigures::from(lags), &stops);
        self.beats.rotate_left(1);
        self.beats[1] = fresh;
        self.from = std::mem::replace(&mut self.last, now);
        health
    }
}

/// What is known of a worker.
#[derive(Default)]
struct Seen {
    /// As of its last report.
    health: WorkerHealth,
    /// Whether that is of the tick that is being put together.
    is_fresh: bool,
    timer: ThreadTimer,
    times: Option<ThreadTimes>,
}

/// The run at one tick.
#[derive(Clone)]
struct Mark {
    at: Duration,
    counts: Counts,
    arrivals: ArrivalCounts,
    used: Usage,
}

/// The whole generator, tick by tick.
pub(crate) struct LatelyOfAll {
    workers: Vec<Seen>,
    start: Duration,
    /// The last two ticks, or the start.
    marks: VecDeque<Mark>,
}

impl LatelyOfAll {
    /// Nothing seen yet.
    pub(crate) fn new(workers: usize) -> LatelyOfAll {
        let workers = (0..workers).map(|_| Seen::default()).collect();
        LatelyOfAll { workers, start: Duration::ZERO, marks: VecDeque::new() }
    }

    /// The scenarios start.
    pub(crate) fn start(&mut self, start: Duration, used: Usage) {
        self.start = start;
        let (counts, arrivals) = (Counts::default(), ArrivalCounts::default());
        self.marks.push_back(Mark { at: start, counts, arrivals, used });
    }

    /// They have started on a worker.
    pub(crate) fn started(&mut self, worker: usize, timer: ThreadTimer) {
        let seen = &mut self.workers[worker];
        seen.times = timer.read();
        seen.timer = timer;
    }

    /// A worker reports.
    pub(crate) fn take(&mut self, worker: usize, health: WorkerHealth) {
        let seen = &mut self.workers[worker];
        seen.times = seen.timer.read();
        (seen.health, seen.is_fresh) = (health, true);
    }

    /// The tick that was due at `due` is sent `now`. Workers of which `has_ended` is true need not have reported.
    pub(crate) fn tick(
        &mut self,
        (due, now): (Duration, Duration),
        (state, used): (&RunState, Usage),
        has_ended: impl Fn(usize) -> bool,
    ) -> Health {
        assert!(due <= now, "a tick is sent when it is due: {due:?}, {now:?}");
        assert!(self.marks.len() <= 2, "{} marks", self.marks.len());
        let mark = Mark { at: now, counts: state.counts(), arrivals: state.arrivals(), used };
        let before = self.marks.front().cloned().unwrap_or_else(|| mark.clone());
        let began = due.saturating_sub(self.start);
        let silent = now.saturating_sub(due);
        let workers = self.workers.iter_mut().enumerate();
        let workers = workers.filter(|(worker, _)| !has_ended(*worker)).map(|(_, seen)| seen.tick(began, silent));
        let workers = workers.collect();
        let health = Health {
            workers,
            counts: mark.counts.since(&before.counts),
            arrivals: mark.arrivals.since(&before.arrivals, now.saturating_sub(before.at)),
            process_cores: before.used.cores_until(&mark.used),
            wall: now.saturating_sub(before.at),
        };
        self.marks.push_back(mark);
        while self.marks.len() > 2 {
            self.marks.pop_front();
        }
        health
    }
}

impl Seen {
    /// A worker that did not report has stood still since the tick was due.
    fn tick(&mut self, began: Duration, silent: Duration) -> WorkerHealth {
        if std::mem::take(&mut self.is_fresh) {
            return self.health.clone();
        }
        let occupation = occupation(silent, self.times.as_ref(), self.timer.read().as_ref());
        let longest_gap = Gap { length: silent, began, occupation };
        WorkerHealth {
            stalled_share: 1.0,
            lag_max_ms: silent.as_secs_f64() * 1e3,
            missed_beats: silent.div_duration_f64(BEAT) as u64,
            longest_gap,
            ..self.health.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lately_is_the_time_of_the_last_two_reports() {
        let at = |s: u64, cpu| Usage { at: Duration::from_secs(s), cpu: Duration::from_secs(cpu), waited: None };
        let beat = |ms: f64| SecondOfBeats { lags: vec![ms], ..SecondOfBeats::default() };
        let mut lately = Lately::since(at(10, 0));
        let shares: Vec<_> = [(at(11, 0), 1.0), (at(12, 1), 7.0), (at(13, 2), 3.0), (at(14, 2), 2.0), (at(15, 2), 1.0)]
            .into_iter()
            .map(|(now, late)| lately.look(now, beat(late)))
            .map(|health| (health.cpu_share, health.lag_max_ms))
            .collect();
        assert_eq!(shares, [(0.0, 1.0), (0.5, 7.0), (1.0, 7.0), (0.5, 7.0), (0.0, 3.0)]);
    }

    fn used(cpu: u64, at: u64) -> Usage {
        Usage { at: Duration::from_secs(at), cpu: Duration::from_secs(cpu), waited: None }
    }

    #[test]
    fn the_whole_generator_is_seen_over_two_ticks() {
        let state = RunState::new(Vec::new(), 1);
        let mut lately = LatelyOfAll::new(1);
        let s = Duration::from_secs;
        lately.start(s(5), used(0, 5));
        let mut cores = Vec::new();
        for (second, cpu) in [(6, 0), (7, 2), (8, 4), (9, 4)] {
            lately.take(0, WorkerHealth { cpu_share: 0.5, ..WorkerHealth::default() });
            let health = lately.tick((s(second), s(second)), (&state, used(cpu, second)), |_| false);
            cores.push((health.process_cores, health.wall.as_secs(), health.workers[0].cpu_share));
        }
        assert_eq!(cores, [(0.0, 1, 0.5), (1.0, 2, 0.5), (2.0, 2, 0.5), (1.0, 2, 0.5)]);
    }

    #[test]
    fn a_worker_that_does_not_report_stands_still() {
        let state = RunState::new(Vec::new(), 1);
        let mut lately = LatelyOfAll::new(2);
        lately.start(Duration::ZERO, used(0, 0));
        lately.take(1, WorkerHealth::default());
        let now = Duration::from_millis(1200);
        let health = lately.tick((Duration::from_secs(1), now), (&state, used(0, 1)), |_| false);
        let gaps: Vec<_> = health.workers.iter().map(|worker| worker.longest_gap.length.as_millis()).collect();
        assert_eq!(gaps, [200, 0]);
        let now = Duration::from_millis(2200);
        let health = lately.tick((Duration::from_secs(2), now), (&state, used(0, 2)), |worker| worker == 0);
        assert_eq!(health.workers.len(), 1, "a worker that has ended reports nothing");
    }
}
