//! What a recorder hands over once a second.

use std::borrow::Cow;
use std::sync::Arc;

use crate::errors::ErrorKind;
use crate::naming::cardinality::Cardinality;
use crate::naming::metric::MetricId;
use crate::sink::{Scope, Sink, SinkKey};
use crate::trend::Trend;

/// What a recorder gathered between two calls of `take`. Goes to the `Aggregate` on another thread.
pub struct Snapshot {
    pub(crate) sinks: Vec<(Arc<SinkKey>, Sink)>,
    pub(crate) refused: u64,
    /// Of the whole run, when it changed.
    pub(crate) cardinality: Option<Box<Cardinality>>,
}

impl Snapshot {
    /// All samples of a Trend in these snapshots; copied only where more than one has some.
    pub fn trend(snapshots: &[Snapshot], metric: MetricId) -> Option<Cow<'_, Trend>> {
        let mut all: Option<Cow<'_, Trend>> = None;
        for snapshot in snapshots {
            if let Some(Sink::Trend(trend)) = snapshot.whole(metric) {
                match &mut all {
                    None => all = Some(Cow::Borrowed(trend)),
                    Some(all) => all.to_mut().merge(trend),
                }
            }
        }
        all.filter(|trend| trend.count() > 0)
    }

    /// What went wrong, and how often.
    pub fn errors(&self) -> impl Iterator<Item = (&ErrorKind, u64)> {
        self.sinks.iter().filter_map(|(key, sink)| match &**key {
            SinkKey::Error(kind) => Some((kind, sink.samples())),
            _ => None,
        })
    }

    /// How many samples of this metric are in it, and the sum of a Counter or Trend, or what was not 0 of a Rate.
    pub fn total(&self, metric: MetricId) -> (u64, f64) {
        match self.whole(metric) {
            Some(Sink::Counter { sum, samples }) => (*samples, sum.value()),
            Some(Sink::Rate { passes, total }) => (*total, *passes as f64),
            Some(Sink::Trend(trend)) => (trend.count(), trend.sum()),
            Some(Sink::Gauge { samples, .. }) => (*samples, 0.0),
            None => (0, 0.0),
        }
    }

    /// What all samples of a metric are in.
    fn whole(&self, metric: MetricId) -> Option<&Sink> {
        let whole = SinkKey::Metric(metric, Scope::default());
        self.sinks.iter().find(|(key, _)| **key == whole).map(|(_, sink)| sink)
    }

    /// Whether nothing came in.
    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty() && self.refused == 0 && self.cardinality.is_none()
    }
}
