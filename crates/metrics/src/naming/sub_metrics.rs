//! The sub-metrics of a registry, found by their source and by the tags that samples carry.
//!
//! Thresholds may ask for as many sub-metrics as a script has checks, and each series has to know its own: both
//! look-ups go through maps, so that neither walks along all of them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::naming::metric::MetricId;
use crate::naming::tags::{TagFilter, TagSet};

/// Index of a sub-metric in its `Registry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubMetricId(pub u32);

/// The samples of a metric whose tags contain all of a filter's.
#[derive(Clone, Debug)]
pub struct SubMetric {
    /// Its index.
    pub id: SubMetricId,
    /// The metric it is a part of.
    pub parent: MetricId,
    /// Which samples belong to it.
    pub filter: TagFilter,
    /// Whether it is for reports alone: summaries, exports and thresholds do not know it.
    pub is_detail: bool,
}

/// All sub-metrics, in the order they were made.
#[derive(Default)]
pub(crate) struct SubMetrics {
    all: Vec<SubMetric>,
    by_source: HashMap<(MetricId, Arc<str>), SubMetricId>,
    /// By metric and first pair of the filter: only these can accept a sample with that tag.
    by_pair: HashMap<(MetricId, Arc<str>, Arc<str>), Vec<SubMetricId>>,
}

impl SubMetrics {
    /// The part of a metric that a filter selects; made at the first call. It is a detail only if everybody asks for
    /// one.
    pub(crate) fn define(&mut self, parent: MetricId, filter: TagFilter, is_detail: bool) -> SubMetricId {
        let source: Arc<str> = filter.source().into();
        let id = SubMetricId(self.all.len() as u32);
        let known = *self.by_source.entry((parent, source)).or_insert(id);
        if known != id {
            debug_assert_eq!(self.all[known.0 as usize].parent, parent, "a source names a part of one metric");
            self.all[known.0 as usize].is_detail &= is_detail;
            return known;
        }
        let (tag, value) = filter.pairs().first().expect("a filter has at least one pair");
        self.by_pair.entry((parent, tag.as_str().into(), value.as_str().into())).or_default().push(id);
        self.all.push(SubMetric { id, parent, filter, is_detail });
        id
    }

    /// Those that samples of a metric with these tags belong to, in the order they were made.
    pub(crate) fn of(&self, metric: MetricId, tags: &TagSet) -> Vec<SubMetricId> {
        let candidates = tags.iter().filter_map(|(tag, value)| self.by_pair.get(&(metric, tag.clone(), value.clone())));
        let accepts = |id: &SubMetricId| self.all[id.0 as usize].filter.accepts(tags);
        let mut found: Vec<SubMetricId> = candidates.flatten().copied().filter(accepts).collect();
        found.sort_unstable();
        debug_assert!(found.is_sorted_by(|before, after| before < after), "a sample belongs to a part once");
        found
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[SubMetric] {
        &self.all
    }
}
