//! The metrics of one test run: the built-in ones, those a script defines in its init code, and the sub-metrics that
//! thresholds ask for. Shared by all workers; locked only while metrics are being defined, while a recorder resolves a
//! new series, and by the aggregate now and then, never on the request path.
//!
//! Sub-metrics, splits and the breakdown must be settled before the first series of their metric is resolved: a series
//! keeps the cells it was given.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::naming::builtin;
use crate::naming::metric::{Contains, Kind, MetricId};
use crate::naming::sub_metrics::SubMetrics;
pub use crate::naming::sub_metrics::{SubMetric, SubMetricId};
use crate::naming::tags::{TagFilter, TagSet};
use crate::places::{Place, Places};
use crate::sink::SinkKey;
use units::suggest;

/// All metrics of a run. Shared as `Arc<Registry>`.
pub struct Registry {
    inner: Mutex<RegistryState>,
    breakdown: AtomicBool,
    details: AtomicBool,
}

#[derive(Default)]
struct RegistryState {
    metrics: Vec<Definition>,
    by_name: HashMap<Arc<str>, MetricId>,
    sub_metrics: SubMetrics,
    splits: Vec<Split>,
    crowding: Crowding,
    places: Places,
    /// The agents that brought metrics, where it was one.
    agents: HashMap<MetricId, u32>,
    /// What the samples of agents belong to: one key each, however many agents.
    keys: HashSet<Arc<SinkKey>>,
}

/// A metric that is kept by the values of its tags as well.
struct Split {
    metric: MetricId,
    tags: &'static [&'static str],
    /// Whether the parts are for reports alone.
    is_detail: bool,
    /// Values of the first tag so far.
    values: Vec<Box<str>>,
}

/// Whether a split met more values than it keeps apart.
#[derive(Default)]
enum Crowding {
    #[default]
    None,
    /// What there is to say about it.
    Untold(String),
    Told,
}

/// Values that a metric is split by at most: a sub-metric takes memory on each worker.
const SPLIT_LIMIT: usize = 64;

/// What the registry knows of one metric.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its index.
    pub id: MetricId,
    /// Its name.
    pub name: Arc<str>,
    /// How its samples add up.
    pub kind: Kind,
    /// What its values are.
    pub contains: Contains,
}

/// Why a metric could not be defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefineError {
    /// The name does not match `^[A-Za-z_][A-Za-z0-9_]{1,128}$`.
    InvalidName(String),
    /// The name is taken by a metric of another kind or contents.
    Conflict {
        /// The name asked for.
        name: String,
        /// What the existing metric is.
        existing: (Kind, Contains),
        /// What was asked for.
        wanted: (Kind, Contains),
    },
}

impl fmt::Display for DefineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefineError::InvalidName(name) => write!(
                f,
                "invalid metric name '{name}': expected 2 to 129 ASCII letters, digits and underscores, not starting \
                 with a digit"
            ),
            DefineError::Conflict { name, existing, wanted } => write!(
                f,
                "metric '{name}' already exists as a {} of {} and cannot become a {} of {}; choose another name",
                existing.0.name(),
                existing.1.noun(),
                wanted.0.name(),
                wanted.1.noun()
            ),
        }
    }
}

impl std::error::Error for DefineError {}

impl Registry {
    /// A registry holding the built-in metrics, and `http_req_duration{expected_response:true}`, which k6 always keeps.
    pub fn new() -> Arc<Self> {
        let mut inner = RegistryState::default();
        for metric in builtin::ALL {
            inner.insert(metric.name, metric.kind, metric.contains);
        }
        let expected = TagFilter::parse("expected_response:true").expect("a well-formed filter");
        assert_eq!(inner.by_name.len(), builtin::ALL.len(), "each built-in metric has a name of its own");
        inner.sub_metrics.define(builtin::HTTP_REQ_DURATION, expected, false);
        let (breakdown, details) = Default::default();
        Arc::new(Registry { inner: Mutex::new(inner), breakdown, details })
    }

    /// Defines a metric, or returns the one of that name when kind and contents agree.
    pub fn define(&self, name: &str, kind: Kind, contains: Contains) -> Result<MetricId, DefineError> {
        if !is_metric_name(name) {
            return Err(DefineError::InvalidName(name.to_owned()));
        }
        let mut inner = self.lock();
        let Some(id) = inner.by_name.get(name) else {
            return Ok(inner.insert(name, kind, contains));
        };
        let known = &inner.metrics[id.0 as usize];
        if (known.kind, known.contains) == (kind, contains) {
            return Ok(known.id);
        }
        let (existing, wanted) = ((known.kind, known.contains), (kind, contains));
        Err(DefineError::Conflict { name: name.to_owned(), existing, wanted })
    }

    /// Finds a metric by name.
    pub fn find(&self, name: &str) -> Option<MetricId> {
        self.lock().by_name.get(name).copied()
    }

    /// What is known of a metric of this registry.
    pub fn definition(&self, id: MetricId) -> Definition {
        self.lock().metrics[id.0 as usize].clone()
    }

    /// All metrics, in the order they were defined.
    pub fn definitions(&self) -> Vec<Definition> {
        self.lock().metrics.clone()
    }

    /// The part of a metric that a filter selects; made at the first call.
    pub fn sub_metric(&self, parent: MetricId, filter: TagFilter) -> SubMetricId {
        self.lock().sub_metrics.define(parent, filter, false)
    }

    /// The same as `define` for a metric of an agent; the error names whom it contradicts.
    pub(crate) fn define_of_agent(
        &self,
        name: &str,
        kind: Kind,
        contains: Contains,
        agent: u32,
    ) -> Result<MetricId, String> {
        let is_new = self.find(name).is_none();
        match self.define(name, kind, contains) {
            Ok(id) => {
                if is_new {
                    self.lock().agents.insert(id, agent);
                }
                Ok(id)
            }
            Err(DefineError::Conflict { name, existing, .. }) => {
                let inner = self.lock();
                let other = inner.by_name.get(&*name).and_then(|id| inner.agents.get(id));
                let other = other.map_or_else(|| "here".to_owned(), |other| format!("on agent {other}"));
                let told = |(kind, contains): (Kind, Contains)| format!("a {} of {}", kind.name(), contains.noun());
                Err(format!(
                    "metric '{name}' is {} on agent {agent} and {} {other}: all agents need the same script",
                    told((kind, contains)),
                    told(existing)
                ))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The same as `sub_metric` for one that another registry has.
    pub(crate) fn restore_sub_metric(&self, parent: MetricId, filter: TagFilter, is_detail: bool) -> SubMetricId {
        self.lock().sub_metrics.define(parent, filter, is_detail)
    }

    /// All sub-metrics, in the order they were made.
    pub fn sub_metrics(&self) -> Vec<SubMetric> {
        self.lock().sub_metrics.all().to_vec()
    }

    /// Keeps a sub-metric for each combination of values that samples of this metric turn out to have in these tags,
    /// for the first 64 values of the first tag. Each is whole: it is made before a series that belongs to it. Said
    /// twice, it is done once.
    pub fn split(&self, metric: MetricId, tags: &'static [&'static str]) {
        self.lock().add_split(metric, tags, false);
    }

    /// The same for reports alone, where `set_details` wants it: summaries stay as they are.
    pub fn split_in_details(&self, metric: MetricId, tags: &'static [&'static str]) {
        if self.details.load(Ordering::Relaxed) {
            self.lock().add_split(metric, tags, true);
        }
    }

    /// Keeps what only a report shows. To be set before scripts define their metrics; costs memory and time per sample.
    pub fn set_details(&self, on: bool) {
        self.details.store(on, Ordering::Relaxed);
    }

    /// What to warn of when a split met more values than it keeps apart: once, whatever further ones there are.
    pub fn split_warning(&self) -> Option<String> {
        let mut inner = self.lock();
        let Crowding::Untold(warning) = &mut inner.crowding else { return None };
        let warning = std::mem::take(warning);
        inner.crowding = Crowding::Told;
        Some(warning)
    }

    /// The sub-metrics that samples of a metric with these tags belong to; made here where the metric is split.
    pub(crate) fn sub_metrics_of(&self, metric: MetricId, tags: &TagSet) -> Vec<SubMetricId> {
        let mut inner = self.lock();
        inner.split(metric, tags);
        inner.sub_metrics.of(metric, tags)
    }

    /// The metric that a sub-metric is a part of.
    pub(crate) fn parent_of(&self, sub: SubMetricId) -> MetricId {
        self.lock().sub_metrics.all()[sub.0 as usize].parent
    }

    /// A worker has met this group or check; the first one that does gives it its place.
    pub(crate) fn place(&self, key: &Arc<SinkKey>) {
        self.lock().places.meet(key);
    }

    /// An agent has.
    pub(crate) fn restore_place(&self, key: &Arc<SinkKey>, place: Place) {
        self.lock().places.restore(key, place);
    }

    /// Where groups and checks stand among each other.
    pub(crate) fn places(&self) -> HashMap<Arc<SinkKey>, Place> {
        self.lock().places.all().clone()
    }

    /// Grows when `places` does, or one of them changes.
    pub(crate) fn changes_of_places(&self) -> u64 {
        self.lock().places.changes()
    }

    /// The one key that is equal to this.
    pub(crate) fn shared(&self, key: SinkKey) -> Arc<SinkKey> {
        let mut inner = self.lock();
        if let Some(known) = inner.keys.get(&key) {
            return known.clone();
        }
        let key = Arc::new(key);
        inner.keys.insert(key.clone());
        key
    }

    /// `; did you mean 'x'?` for a name that no metric has, or nothing.
    pub(crate) fn hint(&self, name: &str) -> String {
        let inner = self.lock();
        suggest::hint(name, inner.metrics.iter().map(|metric| &*metric.name))
    }

    /// Keeps every metric per scenario and per group as well (summary mode `full`); costs memory and time per sample.
    pub fn set_breakdown(&self, on: bool) {
        self.breakdown.store(on, Ordering::Relaxed);
    }

    /// Whether metrics are kept per scenario and per group.
    pub fn breakdown(&self) -> bool {
        self.breakdown.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, RegistryState> {
        // A panic in between leaves whole entries only, so what a poisoned lock guards is still sound.
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl RegistryState {
    fn add_split(&mut self, metric: MetricId, tags: &'static [&'static str], is_detail: bool) {
        assert!(!tags.is_empty(), "a metric is split by the values of some tag");
        match self.splits.iter_mut().find(|split| split.metric == metric && split.tags == tags) {
            Some(split) => split.is_detail &= is_detail,
            None => self.splits.push(Split { metric, tags, is_detail, values: Vec::new() }),
        }
    }

    fn split(&mut self, metric: MetricId, tags: &TagSet) {
        for index in 0..self.splits.len() {
            let split = &mut self.splits[index];
            if split.metric != metric {
                continue;
            }
            let pairs = split.tags.iter().map(|tag| Some((*tag, tags.get(tag)?)));
            let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { continue };
            let (tag, value) = pairs[0];
            debug_assert!(split.values.len() <= SPLIT_LIMIT, "{} values are kept apart", split.values.len());
            if !split.values.iter().any(|known| **known == *value) {
                if split.values.len() == SPLIT_LIMIT {
                    // Nobody asked for details: what is not kept apart is in the total.
                    if !split.is_detail {
                        self.crowded(metric, tag, value);
                    }
                    continue;
                }
                split.values.push(value.into());
            }
            let is_detail = split.is_detail;
            self.sub_metrics.define(metric, TagFilter::of(pairs), is_detail);
        }
    }

    // Cold: it happens when a metric has too many values of a tag, and the first time is told.
    #[cold]
    fn crowded(&mut self, metric: MetricId, tag: &str, value: &str) {
        if let Crowding::None = self.crowding {
            let name = &self.metrics[metric.0 as usize].name;
            self.crowding = Crowding::Untold(format!(
                "{name}: tag '{tag}' has more than {SPLIT_LIMIT} values; '{value}' and further ones get no lines of \
                 their own: use kinds of things as values, not single things"
            ));
        }
    }

    fn insert(&mut self, name: &str, kind: Kind, contains: Contains) -> MetricId {
        let id = MetricId(self.metrics.len() as u32);
        let name: Arc<str> = name.into();
        let known = self.by_name.insert(name.clone(), id);
        assert!(known.is_none(), "'{name}' is defined once");
        self.metrics.push(Definition { id, name, kind, contains });
        id
    }
}

/// `^[A-Za-z_][A-Za-z0-9_]{1,128}$`
fn is_metric_name(name: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let bytes = name.as_bytes();
    (2..=129).contains(&bytes.len()) && !bytes[0].is_ascii_digit() && bytes.iter().all(|b| word(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_ids_are_positions() {
        let registry = Registry::new();
        assert_eq!(registry.find("http_reqs"), Some(builtin::HTTP_REQS));
        assert_eq!(&*registry.definition(builtin::DATA_RECEIVED).name, "data_received");
        assert_eq!(registry.definitions().len(), builtin::ALL.len());
    }

    #[test]
    fn same_definition_gives_same_metric() {
        let registry = Registry::new();
        let first = registry.define("my_trend", Kind::Trend, Contains::Time).unwrap();
        assert_eq!(registry.define("my_trend", Kind::Trend, Contains::Time), Ok(first));
    }

    #[test]
    fn other_definition_is_a_conflict() {
        let error = Registry::new().define("checks", Kind::Trend, Contains::Time).unwrap_err();
        assert_eq!(
            error.to_string(),
            "metric 'checks' already exists as a rate of plain numbers and cannot become a trend of milliseconds; \
             choose another name"
        );
    }

    #[test]
    fn names_follow_the_pattern() {
        let registry = Registry::new();
        let define = |name: &str| registry.define(name, Kind::Counter, Contains::Default);
        for bad in ["", "a", "1a", "a b", "a-b", "é_name", &"x".repeat(130)] {
            assert_eq!(define(bad), Err(DefineError::InvalidName(bad.to_owned())));
        }
        for good in ["ab", "_1", "Login_Time", &"x".repeat(129)] {
            assert!(define(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn details_are_kept_where_they_are_wanted_and_a_threshold_makes_one_known() {
        let (plain, wanted) = (Registry::new(), Registry::new());
        wanted.set_details(true);
        [&plain, &wanted].iter().for_each(|registry| registry.split_in_details(builtin::HTTP_REQS, &["event"]));
        let of = |registry: &Registry, event: &str| {
            registry.sub_metrics_of(builtin::HTTP_REQS, &TagSet::new([("event", event)])).len()
        };
        assert_eq!((of(&plain, "a"), of(&wanted, "a")), (0, 1));
        let made: usize = (0..100).map(|event| of(&wanted, &event.to_string())).sum();
        assert_eq!((made, wanted.split_warning()), (SPLIT_LIMIT - 1, None), "nobody asked for them");
        let filter = || TagFilter::parse("event:a").expect("a filter");
        let is_detail = || wanted.sub_metrics().iter().find(|sub| sub.filter == filter()).map(|sub| sub.is_detail);
        assert_eq!(is_detail(), Some(true));
        wanted.sub_metric(builtin::HTTP_REQS, filter());
        assert_eq!(is_detail(), Some(false));
    }

    #[test]
    fn a_split_metric_has_a_part_for_each_value_up_to_a_bound() {
        let registry = Registry::new();
        registry.split(builtin::HTTP_REQS, &["status"]);
        registry.split(builtin::HTTP_REQS, &["status"]);
        let of = |metric, status: &str| registry.sub_metrics_of(metric, &TagSet::new([("status", status)])).len();
        assert_eq!(
            (of(builtin::HTTP_REQS, "200"), of(builtin::HTTP_REQS, "200"), of(builtin::CHECKS, "200")),
            (1, 1, 0)
        );
        let made: usize = (300..400).map(|status| of(builtin::HTTP_REQS, &status.to_string())).sum();
        assert_eq!(made, SPLIT_LIMIT - 1);
        assert_eq!(registry.sub_metrics_of(builtin::HTTP_REQS, &TagSet::empty()), []);
        let warning = registry.split_warning().expect("the 65th");
        assert!(warning.starts_with("http_reqs: tag 'status' has more than 64 values; '363' and further"), "{warning}");
        assert_eq!(registry.split_warning(), None, "said once");
    }

    #[test]
    fn a_split_by_two_tags_has_a_part_for_each_combination() {
        let registry = Registry::new();
        registry.split(builtin::HTTP_REQS, &["name", "status"]);
        let of = |tags: &[(&'static str, &'static str)]| {
            registry.sub_metrics_of(builtin::HTTP_REQS, &TagSet::new(tags.iter().copied())).len()
        };
        assert_eq!(of(&[("name", "a")]), 0, "a tag is missing");
        assert_eq!((of(&[("name", "a"), ("status", "200")]), of(&[("name", "a"), ("status", "500")])), (1, 1));
        let sources: Vec<String> = registry.sub_metrics().iter().map(|sub| sub.filter.source().to_owned()).collect();
        assert!(sources.ends_with(&["name:a,status:200".into(), "name:a,status:500".into()]), "{sources:?}");
    }

    #[test]
    fn sub_metrics_are_made_once() {
        let registry = Registry::new();
        let filter = || TagFilter::parse("status:200").unwrap();
        let first = registry.sub_metric(builtin::HTTP_REQS, filter());
        assert_eq!(registry.sub_metric(builtin::HTTP_REQS, filter()), first);
        assert_ne!(registry.sub_metric(builtin::CHECKS, filter()), first);
        let tags = TagSet::new([("status", "200"), ("method", "GET")]);
        assert_eq!(registry.sub_metrics_of(builtin::HTTP_REQS, &tags), [first]);
        assert_eq!(registry.sub_metrics_of(builtin::HTTP_REQS, &TagSet::empty()), []);
    }
}
