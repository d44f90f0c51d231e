//! Requests in distributed traces: where their spans go, and which of the sampled ones were slowest or failed, so that
//! the end of a run can name their traces.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use metrics::span::SpanSink;

/// Traces that are named at the end: of the slowest requests, and of those that failed first.
const NAMED: usize = 3;

/// What all workers know of traces.
#[derive(Default)]
pub struct Traces {
    sink: OnceLock<Arc<dyn SpanSink>>,
    named: Mutex<NamedTraces>,
    /// Nanoseconds of a request that is slower than one of the slowest.
    least_ns: AtomicU64,
    /// How many have failed.
    failed: AtomicU64,
}

#[derive(Default)]
struct NamedTraces {
    /// The slowest in front.
    slowest: Vec<SampledRequest>,
    failed: Vec<SampledRequest>,
}

/// A request whose trace the collector keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledRequest {
    /// Its trace, of which it is the root.
    pub trace_id: u128,
    /// How long it took, from its beginning to the end of its last hop.
    pub took_ns: u64,
    /// `GET http://host/path`, secrets masked.
    pub line: String,
}

impl Traces {
    /// Has spans sent there. To be called before users are made; the first call counts.
    pub fn send_to(&self, sink: Arc<dyn SpanSink>) {
        let _first = self.sink.set(sink);
    }

    /// Where spans go.
    pub fn sink(&self) -> Option<Arc<dyn SpanSink>> {
        self.sink.get().cloned()
    }

    /// A sampled request has ended. `make` is asked only for one that will be named, unless a slower one comes.
    pub fn note(&self, took_ns: u64, has_failed: bool, make: impl FnOnce() -> SampledRequest) {
        let is_first_to_fail = has_failed && self.failed.fetch_add(1, Ordering::Relaxed) < NAMED as u64;
        let is_slow = took_ns > self.least_ns.load(Ordering::Relaxed);
        if !is_first_to_fail && !is_slow {
            return;
        }
        let request = make();
        let mut named = self.named();
        if is_first_to_fail {
            named.failed.push(request.clone());
        }
        let slowest = &mut named.slowest;
        let at = slowest.partition_point(|other| other.took_ns >= took_ns);
        slowest.insert(at, request);
        slowest.truncate(NAMED);
        if slowest.len() == NAMED {
            self.least_ns.store(slowest[NAMED - 1].took_ns, Ordering::Relaxed);
        }
    }

    /// The slowest, in front the one that took longest.
    pub fn slowest(&self) -> Vec<SampledRequest> {
        self.named().slowest.clone()
    }

    /// The first that failed.
    pub fn failed(&self) -> Vec<SampledRequest> {
        self.named().failed.clone()
    }

    fn named(&self) -> MutexGuard<'_, NamedTraces> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_and_the_first_that_failed_are_named() {
        let traces = Traces::default();
        assert!(traces.slowest().is_empty() && traces.failed().is_empty());
        for (number, ms) in [5_u64, 1, 9, 7, 2].into_iter().enumerate() {
            let trace_id = number as u128 + 1;
            let took_ns = ms * 1_000_000;
            let line = String::from("GET http://h/");
            traces.note(took_ns, number == 4, || SampledRequest { trace_id, took_ns, line });
        }
        let named = |all: Vec<SampledRequest>| -> Vec<(u64, u128)> {
            all.into_iter().map(|request| (request.took_ns / 1_000_000, request.trace_id)).collect()
        };
        assert_eq!(named(traces.slowest()), [(9, 3), (7, 4), (5, 1)]);
        assert_eq!(named(traces.failed()), [(2, 5)]);
    }
}
