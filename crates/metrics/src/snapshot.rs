//! What a recorder hands over once a second.

use std::sync::Arc;

use crate::cardinality::Cardinality;
use crate::metric::MetricId;
use crate::sink::{Scope, Sink, SinkKey};

/// What a recorder gathered between two calls of `take`. Goes to the `Aggregate` on another thread.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) sinks: Vec<(Arc<SinkKey>, Sink)>,
    pub(crate) refused: u64,
    /// Of the whole run, when it changed.
    pub(crate) cardinality: Option<Box<Cardinality>>,
}

impl Snapshot {
    /// A copy of what is in it of these metrics as a whole, and of the errors.
    pub fn of_metrics(&self, metrics: &[MetricId]) -> Snapshot {
        let is_of_them = |key: &SinkKey| match key {
            SinkKey::Metric(metric, scope) => *scope == Scope::default() && metrics.contains(metric),
            SinkKey::Error(_) => true,
            _ => false,
        };
        let sinks = self.sinks.iter().filter(|(key, _)| is_of_them(key)).cloned().collect();
        Snapshot { sinks, refused: 0, cardinality: None }
    }

    /// How many samples of this metric are in it, and the sum of a Counter or Trend.
    pub fn total(&self, metric: MetricId) -> (u64, f64) {
        let whole = SinkKey::Metric(metric, Scope::default());
        match self.sinks.iter().find(|(key, _)| **key == whole).map(|(_, sink)| sink) {
            Some(Sink::Counter { sum, samples }) => (*samples, *sum),
            Some(Sink::Trend(trend)) => (trend.count(), trend.sum()),
            Some(sink) => (sink.samples(), 0.0),
            None => (0, 0.0),
        }
    }

    /// Whether nothing came in.
    pub fn is_empty(&self) -> bool {
        self.sinks.is_empty() && self.refused == 0 && self.cardinality.is_none()
    }
}
