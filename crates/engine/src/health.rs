//! What the generator noticed about itself while it ran: CPU of its workers and how late their event loops were.
//!
//! Each worker asks to be woken every few milliseconds and notes how late that happened. CPU is that of the worker's thread.
//! What these figures mean for the run is `judgement`'s to say.

use std::time::Duration;

use metrics::Trend;
use rustix::time::{ClockId, clock_gettime};

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
}

impl WorkerHealth {
    /// What a worker's thread used since `before`, and how late its event loop was meanwhile.
    pub(crate) fn since(before: &ThreadMoment, lag: &Trend) -> Self {
        let now = ThreadMoment::now();
        let wall = now.at.saturating_sub(before.at).as_secs_f64().max(1e-9);
        let share = |time: Duration| (time.as_secs_f64() / wall).min(1.0);
        let waited = now.waited.zip(before.waited).map(|(now, before)| now.saturating_sub(before));
        WorkerHealth {
            cpu_share: share(now.cpu.saturating_sub(before.cpu)),
            waited_share: waited.map(share),
            lag_avg_ms: lag.avg(),
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

    /// The mean lateness of the worker that was latest by it, in ms.
    pub fn worst_lag_avg_ms(&self) -> f64 {
        self.workers.iter().map(|worker| worker.lag_avg_ms).fold(0.0, f64::max)
    }
}

/// What the calling thread had used by one moment. Wall clock and CPU clock are read together: shares of a run of milliseconds
/// would else come out above 1.
pub(crate) struct ThreadMoment {
    at: Duration,
    cpu: Duration,
    /// Time for which it was ready to run and had no core.
    waited: Option<Duration>,
}

impl ThreadMoment {
    pub(crate) fn now() -> Self {
        let waited = std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| waited(&text));
        ThreadMoment { at: read(ClockId::Monotonic), cpu: read(ClockId::ThreadCPUTime), waited }
    }
}

/// The second number of `schedstat`, in ns.
fn waited(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// What the process had used by one moment.
#[derive(Default)]
pub(crate) struct ProcessMoment {
    at: Duration,
    cpu: Duration,
}

impl ProcessMoment {
    pub(crate) fn now() -> Self {
        ProcessMoment { at: read(ClockId::Monotonic), cpu: read(ClockId::ProcessCPUTime) }
    }

    /// Cores in use from this moment to now.
    pub(crate) fn cores(&self) -> f64 {
        let now = ProcessMoment::now();
        let wall = now.at.saturating_sub(self.at).as_secs_f64().max(1e-9);
        now.cpu.saturating_sub(self.cpu).as_secs_f64() / wall
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_uses_cpu_and_never_more_than_a_core() {
        let (process, before) = (ProcessMoment::now(), ThreadMoment::now());
        while read(ClockId::ThreadCPUTime) < before.cpu + Duration::from_millis(1) {}
        let health = WorkerHealth::since(&before, &Trend::default());
        assert!(health.cpu_share > 0.0 && health.cpu_share <= 1.0, "{health:?}");
        assert!(process.cores() > 0.0);
    }

    #[test]
    fn the_kernel_tells_how_long_a_thread_waited_for_a_core() {
        assert_eq!(waited("381940 111894 2\n"), Some(Duration::from_nanos(111_894)));
        assert_eq!(waited(""), None);
    }
}
