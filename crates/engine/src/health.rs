//! What the generator noticed about itself while it ran: CPU of its workers and how late their event loops were.
//!
//! Each worker asks to be woken every few milliseconds and notes how late that happened (`beats`). CPU is that of the
//! worker's thread. What these figures mean for the run is `judgement`'s to say.

use std::time::Duration;

use metrics::Trend;
use serde::{Deserialize, Serialize};

pub use crate::beats::{Gap, Occupation};
use crate::beats::{STALL, Stops};
use crate::clock::Usage;
use crate::state::Counts;

/// How the workers fared.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Health {
    /// One entry a worker.
    pub workers: Vec<WorkerHealth>,
    /// All iterations: started, ended, interrupted, and dropped, which are starts that found no virtual user and
    /// iterations left over at the end.
    pub counts: Counts,
    /// What became of the starts of arrival rates.
    pub arrivals: ArrivalCounts,
    /// CPU used by the whole process while the scenarios ran, in cores.
    pub process_cores: f64,
    /// How long the scenarios ran.
    pub wall: Duration,
}

/// The starts of all arrival rates of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalCounts {
    /// Iterations that began.
    pub started: u64,
    /// Starts that found no virtual user.
    pub dropped: u64,
    /// How long after its time the last start was made, in the scenario that fell behind by most.
    pub behind: Duration,
    /// The regular time of that scenario.
    pub lasts: Duration,
}

impl ArrivalCounts {
    /// What came since an earlier reading, which was made so long ago.
    pub(crate) fn since(&self, earlier: &ArrivalCounts, time: Duration) -> ArrivalCounts {
        assert!(
            earlier.started <= self.started && earlier.dropped <= self.dropped,
            "counts grow: {earlier:?}, then {self:?}"
        );
        ArrivalCounts {
            started: self.started - earlier.started,
            dropped: self.dropped - earlier.dropped,
            behind: self.behind.saturating_sub(earlier.behind),
            lasts: time,
        }
    }

    /// The rate of starts by the planned one, as far as being late made it lower.
    pub fn achieved_share(&self) -> f64 {
        if self.lasts.is_zero() { 1.0 } else { self.lasts.div_duration_f64(self.lasts + self.behind) }
    }
}

/// How one worker fared.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WorkerHealth {
    /// Share of the time its thread was running, 0 to 1.
    pub cpu_share: f64,
    /// Share of the time its thread was ready to run and had no core; none where the kernel does not tell.
    pub waited_share: Option<f64>,
    /// How late its event loop was, in ms: mean.
    pub lag_avg_ms: f64,
    /// Median.
    pub lag_p50_ms: f64,
    /// 99 of 100 times it was no later.
    pub lag_p99_ms: f64,
    /// The latest.
    pub lag_max_ms: f64,
    /// Beats of the event loop that could not take place, because it stood still when they were due.
    pub missed_beats: u64,
    /// Share of the time in which the event loop stood still for 10 ms or more in one piece, 0 to 1.
    pub stalled_share: f64,
    /// What such pieces alone made a random moment wait, in ms, on average.
    pub stalled_avg_ms: f64,
    /// The longest of them, or the latest beat.
    pub longest_gap: Gap,
}

impl WorkerHealth {
    /// What a worker's thread used between two readings, and how late its event loop was meanwhile.
    pub(crate) fn between(before: &Usage, after: &Usage, lag: LagFigures, stops: &Stops) -> Self {
        debug_assert!(before.at <= after.at, "{:?} is read before {:?}", before.at, after.at);
        assert!(lag.p50 <= lag.p99 && lag.p99 <= lag.max, "{lag:?}");
        assert!(stops.stalled.is_zero() || stops.longest.length >= STALL, "{stops:?}");
        let wall = after.at.saturating_sub(before.at).as_secs_f64().max(1e-9);
        let share = |time: Duration| (time.as_secs_f64() / wall).min(1.0);
        let waited = after.waited.zip(before.waited).map(|(after, before)| after.saturating_sub(before));
        WorkerHealth {
            cpu_share: share(after.cpu.saturating_sub(before.cpu)),
            waited_share: waited.map(share),
            missed_beats: stops.missed,
            stalled_share: share(stops.stalled),
            stalled_avg_ms: stops.stalled_squares / (wall * 1e3),
            longest_gap: stops.longest,
            lag_avg_ms: lag.avg,
            lag_p50_ms: lag.p50,
            lag_p99_ms: lag.p99,
            lag_max_ms: lag.max,
        }
    }
}

/// How late beats were, in ms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LagFigures {
    avg: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

impl From<&Trend> for LagFigures {
    fn from(lag: &Trend) -> LagFigures {
        LagFigures { avg: lag.avg(), p50: lag.percentile(50.0), p99: lag.percentile(99.0), max: lag.max() }
    }
}

impl From<Vec<f64>> for LagFigures {
    /// Percentiles by rank.
    fn from(mut lags: Vec<f64>) -> LagFigures {
        lags.sort_by(f64::total_cmp);
        let at = |share: f64| lags.get(((lags.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied();
        LagFigures {
            avg: lags.iter().sum::<f64>() / lags.len().max(1) as f64,
            p50: at(0.5).unwrap_or_default(),
            p99: at(0.99).unwrap_or_default(),
            max: at(1.0).unwrap_or_default(),
        }
    }
}

impl Health {
    /// Share of the time that the busiest worker was running.
    pub fn busiest_cpu_share(&self) -> f64 {
        self.workers.iter().map(|worker| worker.cpu_share).fold(0.0, f64::max)
    }

    /// The latest p99 of any worker's event loop, in ms.
    pub fn worst_lag_p99_ms(&self) -> f64 {
        self.workers.iter().map(|worker| worker.lag_p99_ms).fold(0.0, f64::max)
    }

    /// The worker whose event loop stood still for longest.
    pub fn worst_gap(&self) -> Gap {
        let gaps = self.workers.iter().map(|worker| worker.longest_gap);
        gaps.max_by_key(|gap| gap.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(before: &Usage, after: &Usage) -> WorkerHealth {
        WorkerHealth::between(before, after, LagFigures::default(), &Stops::default())
    }

    #[test]
    fn shares_are_of_the_time_between_two_readings() {
        let at = |ms: u64, cpu: u64, waited| Usage {
            at: Duration::from_millis(ms),
            cpu: Duration::from_millis(cpu),
            waited: Some(Duration::from_millis(waited)),
        };
        let health = between(&at(1000, 200, 50), &at(3000, 1700, 150));
        assert_eq!((health.cpu_share, health.waited_share), (0.75, Some(0.05)));
        let never_more_than_a_core = between(&at(0, 0, 0), &at(10, 11, 0));
        assert_eq!(never_more_than_a_core.cpu_share, 1.0);
        let not_told = Usage { waited: None, ..at(0, 0, 0) };
        assert_eq!(between(&not_told, &at(10, 5, 5)).waited_share, None);
    }

    #[test]
    fn the_worst_worker_speaks_for_all() {
        let worker = |cpu_share, lag_avg_ms, lag_p99_ms| WorkerHealth {
            cpu_share,
            lag_avg_ms,
            lag_p99_ms,
            ..WorkerHealth::default()
        };
        let health = Health { workers: vec![worker(0.5, 1.0, 9.0), worker(0.25, 2.0, 3.0)], ..Health::default() };
        assert_eq!(health.busiest_cpu_share(), 0.5);
        assert_eq!(health.worst_lag_p99_ms(), 9.0);
    }

    #[test]
    fn lateness_is_that_of_the_event_loop() {
        let lags: Vec<f64> = (0..=100).map(f64::from).collect();
        let mut trend = Trend::default();
        lags.iter().for_each(|lag| trend.add(*lag));
        let at = |ms| Usage { at: Duration::from_millis(ms), cpu: Duration::ZERO, waited: None };
        for figures in [LagFigures::from(&trend), LagFigures::from(lags)] {
            let health = WorkerHealth::between(&at(0), &at(1000), figures, &Stops::default());
            assert_eq!(
                [health.lag_avg_ms, health.lag_p50_ms, health.lag_p99_ms, health.lag_max_ms],
                [50.0, 50.0, 99.0, 100.0]
            );
        }
        let none = LagFigures::from(Vec::new());
        assert_eq!([none.avg, none.p50, none.p99, none.max], [0.0; 4]);
    }
}
