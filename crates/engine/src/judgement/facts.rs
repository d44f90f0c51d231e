//! What a run is judged by, beside what the generator noticed of itself: plain values that others collect.

use std::time::Duration;

use super::cause::Cause;

/// What the samples and the machine tell.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// One user and one iteration: a look whether the script works.
    pub is_smoke: bool,
    /// HTTP requests.
    pub requests: u64,
    /// Those whose timings this program took because the kernel did not stamp them.
    pub unstamped: u64,
    /// Requests that got no answer because the process or the machine had no more descriptors.
    pub without_file: u64,
    /// Requests that got no answer because there was no local port left.
    pub without_port: u64,
    /// Medians in ms, the users' and that of a referee beside the workers, where they are apart.
    pub bias: Option<(f64, f64)>,
    /// Whether the target is on this machine.
    pub is_target_here: bool,
    /// How late the iterations of arrival-rate scenarios started; none without such iterations.
    pub iteration_lag: Option<IterationLag>,
    /// What the users of the other scenarios did; none without such iterations.
    pub closed: Option<ClosedLoop>,
    /// What the machine was like.
    pub machine: MachineFacts,
    /// What outputs lost.
    pub outputs: Outputs,
    /// Percentiles that somebody reads or judges by.
    pub percentiles: Vec<Percentile>,
    /// What was found of single seconds while the test ran.
    pub meanwhile: Vec<SaidMeanwhile>,
    /// Laws that the figures break, in words.
    pub disagreements: Vec<String>,
}

/// A cause that was found in some of the seconds of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidMeanwhile {
    /// Which one, by name.
    pub cause: Cause,
    /// Its figure in the worst of them.
    pub figure: String,
    /// What helps against it.
    pub advice: String,
    /// In so many seconds.
    pub seconds: u64,
    /// Of so many that were judged.
    pub of: u64,
}

/// What the machine gave to the process, and took away, while the scenarios ran.
#[derive(Clone, Debug, Default)]
pub struct MachineFacts {
    /// Cores that the process may use.
    pub allowed_cores: usize,
    /// Share of the machine's CPU time that the hypervisor gave to others, where it is notable.
    pub stolen: Option<f64>,
    /// What the CPU limit of a control group took away.
    pub throttling: Throttling,
    /// How much tasks of the whole machine waited; none where the kernel does not tell.
    pub pressure: Option<Pressure>,
    /// The largest step of the wall clock, in ms, forwards or backwards.
    pub clock_step_ms: f64,
}

/// Planned to real start, in ms.
#[derive(Clone, Copy, Debug, Default)]
pub struct IterationLag {
    /// Iterations.
    pub starts: u64,
    /// Share of them that started 10 ms late or more, 0 to 1.
    pub late_share: f64,
    /// 95 of 100 iterations started no later.
    pub p95_ms: f64,
    /// 99 of 100.
    pub p99_ms: f64,
    /// The latest.
    pub max_ms: f64,
}

/// Users that begin an iteration when the one before has ended: what they lose, the rate loses.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClosedLoop {
    /// How often they waited for an answer: requests, or iterations where those are more.
    pub waits: f64,
    /// The sum of their iterations, in ms.
    pub spent_ms: f64,
}

/// What a CPU limit did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Throttling {
    /// How often it held the process up.
    pub times: u64,
    /// For how long in all, where the kernel tells; the sum over processors.
    pub time: Option<Duration>,
}

/// Shares of the time in which tasks of the machine waited, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Some of them for a processor.
    pub cpu: f64,
    /// All of them for memory.
    pub memory: f64,
    /// All of them for storage.
    pub io: f64,
}

/// What became of samples on their way to outputs.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// A line for each output that lost some.
    pub lost: Vec<String>,
}

/// A percentile and what it is made of.
#[derive(Clone, Debug)]
pub struct Percentile {
    /// Of which metric: `http_req_duration`.
    pub metric: String,
    /// Above 0, below 100.
    pub percent: f64,
    /// Samples there are.
    pub samples: u64,
    /// Whether a threshold judges by it; otherwise it is shown, and marked.
    pub is_wanted: bool,
}

impl Percentile {
    /// How many samples it needs, so that ten are beyond it on either side.
    pub fn needed(&self) -> u64 {
        metrics::trend::samples_needed(self.percent)
    }

    /// Whether there are enough.
    pub fn is_thin(&self) -> bool {
        self.samples > 0 && self.samples < self.needed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_are_beyond_a_percentile_that_has_enough() {
        let needed = |percent| Percentile { metric: String::new(), percent, samples: 0, is_wanted: true }.needed();
        assert_eq!([50.0, 90.0, 95.0, 99.0, 99.9, 10.0].map(needed), [20, 100, 200, 1000, 10_000, 100]);
        let thin = |samples| Percentile { metric: String::new(), percent: 99.0, samples, is_wanted: true }.is_thin();
        assert_eq!([0, 1, 999, 1000].map(thin), [false, true, true, false]);
    }
}
