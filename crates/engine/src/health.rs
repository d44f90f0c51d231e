//! What the generator noticed about itself: whether it was on time, or was itself the bottleneck.
//!
//! Each worker asks to be woken every few milliseconds and notes how late that happened: a busy event loop measures the target
//! late by as much. CPU is that of the worker's thread. Judging the figures is here too, so that every report says the same.

use std::time::Duration;

use metrics::Trend;
use rustix::time::{ClockId, clock_gettime};

/// Shares of a shorter time say nothing: clocks of threads are read a little before and after it.
const SHORTEST_JUDGED: Duration = Duration::from_secs(1);

/// How the workers fared.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// One entry a worker.
    pub workers: Vec<WorkerHealth>,
    /// Starts that found no virtual user, and iterations left over at the end.
    pub dropped: u64,
    /// CPU used by the whole process while the scenarios ran, in cores.
    pub process_cores: f64,
    /// How long the scenarios ran.
    pub wall: Duration,
}

/// How one worker fared.
#[derive(Clone, Debug, Default)]
pub struct WorkerHealth {
    /// Share of the time its thread was running, 0 to 1.
    pub cpu_share: f64,
    /// How late its event loop was, in ms: median.
    pub lag_p50_ms: f64,
    /// 99 of 100 times it was no later.
    pub lag_p99_ms: f64,
    /// The latest.
    pub lag_max_ms: f64,
}

impl WorkerHealth {
    pub(crate) fn new(lag: &Trend, cpu: Duration, wall: Duration) -> Self {
        WorkerHealth {
            cpu_share: cpu.as_secs_f64() / wall.as_secs_f64().max(1e-9),
            lag_p50_ms: lag.percentile(50.0),
            lag_p99_ms: lag.percentile(99.0),
            lag_max_ms: lag.max(),
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

    /// One plain line when the generator was the limit and not the target; none when it was on time, and none for a run
    /// so short that starting up is most of it.
    pub fn complaint(&self) -> Option<String> {
        if self.wall < SHORTEST_JUDGED {
            return None;
        }
        let (busy, lag) = (self.busiest_cpu_share(), self.worst_lag_p99_ms());
        if busy < 0.9 && lag < 10.0 {
            return None;
        }
        let share = busy * 100.0;
        Some(if busy < 0.9 {
            // Something else had the processor: the limit is the machine.
            format!(
                "the generator was held up: a worker that used {share:.0} % of a core was up to {lag:.1} ms late (p99); \
                 the machine was busy with something else, and the target may be faster than these numbers"
            )
        } else {
            format!(
                "the generator was the limit: its busiest worker used {share:.0} % of a core and was up to {lag:.1} ms late \
                 (p99); the target may be faster than these numbers"
            )
        })
    }
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// CPU time of the process.
pub(crate) fn process_cpu() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complains_only_when_it_was_the_limit() {
        let of = |cpu_share, lag_p99_ms| Health {
            workers: vec![WorkerHealth { cpu_share, lag_p99_ms, ..Default::default() }, WorkerHealth::default()],
            wall: Duration::from_secs(5),
            ..Default::default()
        };
        assert_eq!(of(0.6, 2.0).complaint(), None);
        let expected = "the generator was the limit: its busiest worker used 97 % of a core and was up to 2.0 ms late (p99); \
                        the target may be faster than these numbers";
        assert_eq!(of(0.97, 2.0).complaint().as_deref(), Some(expected));
        let expected = "the generator was held up: a worker that used 30 % of a core was up to 12.0 ms late (p99); \
                        the machine was busy with something else, and the target may be faster than these numbers";
        assert_eq!(of(0.3, 12.0).complaint().as_deref(), Some(expected));
        assert_eq!(Health { wall: Duration::from_millis(900), ..of(1.7, 2.0) }.complaint(), None);
    }

    #[test]
    fn a_busy_thread_uses_cpu() {
        let before = thread_cpu();
        while thread_cpu() < before + Duration::from_millis(1) {}
        assert!(process_cpu() >= thread_cpu());
    }
}
