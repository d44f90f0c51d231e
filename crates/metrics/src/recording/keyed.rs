//! The samples of one metric or sub-metric by its name, as thresholds write it: `http_req_duration{name:page}`.
//!
//! For those who look at seconds that another process measured, and know metrics by name alone.

use super::snapshot::Snapshot;
use crate::aggregation::threshold::split_key;
use crate::naming::metric::MetricId;
use crate::registry::Registry;
use crate::sink::{Scope, Sink, SinkKey};
use crate::trend::Trend;

/// The samples of a metric or sub-metric in a snapshot.
#[derive(Clone, Copy, Debug)]
pub enum Keyed<'a> {
    /// The sum of the samples.
    Counter(f64),
    /// The last value.
    Gauge(f64),
    /// How many of how many were not 0.
    Rate {
        /// Samples other than 0.
        passes: u64,
        /// All of them.
        total: u64,
    },
    /// All of them.
    Trend(&'a Trend),
}

impl Snapshot {
    /// Those of a key; none without samples, and for a name that nothing has. `registry` is the one that the snapshot
    /// was read into.
    pub fn keyed(&self, registry: &Registry, key: &str) -> Option<Keyed<'_>> {
        let (name, filter) = split_key(key).ok()?;
        let metric: MetricId = registry.find(name)?;
        let wanted = match filter {
            None => SinkKey::Metric(metric, Scope::default()),
            Some(filter) => SinkKey::Sub(registry.sub_metric(metric, filter)),
        };
        let (_, sink) = self.sinks.iter().find(|(key, sink)| **key == wanted && sink.is_used())?;
        Some(match sink {
            Sink::Counter { sum, .. } => Keyed::Counter(sum.value()),
            Sink::Gauge { last, .. } => Keyed::Gauge(*last),
            Sink::Rate { passes, total } => Keyed::Rate { passes: *passes, total: *total },
            Sink::Trend(trend) => Keyed::Trend(trend),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::tags::{TagFilter, TagSet};
    use crate::{Recorder, builtin};

    #[test]
    fn samples_are_found_by_the_names_of_thresholds() {
        let registry = Registry::new();
        let filter = TagFilter::parse("name:page").unwrap();
        registry.sub_metric(builtin::HTTP_REQ_DURATION, filter);
        let recorder = Recorder::new(registry.clone());
        let page = TagSet::empty().with([("name", "page")]);
        for (tags, value) in [(&page, 8.0), (&TagSet::empty(), 2.0)] {
            recorder.add(recorder.series(builtin::HTTP_REQ_DURATION, tags), value, 0);
            recorder.add(recorder.series(builtin::HTTP_REQS, tags), 1.0, 0);
            recorder.add(recorder.series(builtin::HTTP_REQ_FAILED, tags), value - 8.0, 0);
        }
        let snapshot = recorder.take();
        let found = |key: &str| match snapshot.keyed(&registry, key) {
            Some(Keyed::Trend(trend)) => format!("{} of {}", trend.count(), trend.sum()),
            Some(other) => format!("{other:?}"),
            None => String::from("none"),
        };
        assert_eq!(found("http_req_duration"), "2 of 10");
        assert_eq!(found("http_req_duration{name:page}"), "1 of 8");
        assert_eq!(found("http_reqs"), "Counter(2.0)");
        assert_eq!(found("http_req_failed"), "Rate { passes: 1, total: 2 }");
        assert_eq!([found("nothing"), found("http_req_duration{name:other}")], ["none", "none"]);
    }
}
