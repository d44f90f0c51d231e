//! Where samples end: one cell for each thing that is reported, and the names of those cells.
//!
//! A sample feeds several sinks: its metric's total, sub-metrics, with the breakdown its scenario and group, and for
//! checks the line in the tree of checks. Sinks of the same key from different workers merge.

use std::sync::Arc;

use crate::counter_sum::CounterSum;
use crate::errors::ErrorKind;
use crate::naming::metric::{Kind, MetricId};
use crate::naming::sub_metrics::SubMetricId;
use crate::requests::RequestKind;
use crate::trend::Trend;

/// The part of a run that a sink covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    /// Only samples of this scenario.
    pub scenario: Option<Arc<str>>,
    /// Only samples made directly in this group.
    pub group: Option<Arc<str>>,
}

/// What a sink stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SinkKey {
    /// A metric in a scope; the empty scope is its total.
    Metric(MetricId, Scope),
    /// A sub-metric.
    Sub(SubMetricId),
    /// A check of this name; the scope's group is where it was made.
    Check(Scope, Arc<str>),
    /// A group that was run, so that it has its place in the tree without checks too.
    Group(Scope),
    /// Something that went wrong.
    Error(ErrorKind),
    /// Requests of one kind; a Trend of their durations.
    Request(RequestKind),
}

impl SinkKey {
    /// Scenario, group and name, as far as it has them; two keys of one kind in the tree differ here.
    pub fn name(&self) -> [Option<Arc<str>>; 3] {
        match self {
            SinkKey::Metric(_, scope) | SinkKey::Group(scope) => [scope.scenario.clone(), scope.group.clone(), None],
            SinkKey::Check(scope, name) => [scope.scenario.clone(), scope.group.clone(), Some(name.clone())],
            SinkKey::Sub(_) | SinkKey::Error(_) | SinkKey::Request(_) => Default::default(),
        }
    }

    /// Whether it has a place in the tree of groups and checks.
    pub fn is_in_tree(&self) -> bool {
        match self {
            SinkKey::Check(..) | SinkKey::Group(_) => true,
            SinkKey::Metric(_, scope) => scope.group.is_some(),
            SinkKey::Sub(_) | SinkKey::Error(_) | SinkKey::Request(_) => false,
        }
    }
}

/// Combined samples.
#[derive(Clone, Debug)]
pub(crate) enum Sink {
    Counter { sum: CounterSum, samples: u64 },
    Gauge { last: f64, last_at_ns: u64, min: f64, max: f64, samples: u64 },
    Rate { passes: u64, total: u64 },
    Trend(Box<Trend>),
}

impl Sink {
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Sink::Counter { sum: CounterSum::default(), samples: 0 },
            Kind::Gauge => {
                Sink::Gauge { last: 0.0, last_at_ns: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, samples: 0 }
            }
            Kind::Rate => Sink::Rate { passes: 0, total: 0 },
            Kind::Trend => Sink::Trend(Box::default()),
        }
    }

    /// How its samples add up.
    pub fn kind(&self) -> Kind {
        match self {
            Sink::Counter { .. } => Kind::Counter,
            Sink::Gauge { .. } => Kind::Gauge,
            Sink::Rate { .. } => Kind::Rate,
            Sink::Trend(_) => Kind::Trend,
        }
    }

    /// An empty sink of the same kind, with room for as much.
    pub fn emptied(&self) -> Self {
        match self {
            Sink::Counter { .. } => Sink::new(Kind::Counter),
            Sink::Gauge { .. } => Sink::new(Kind::Gauge),
            Sink::Rate { .. } => Sink::new(Kind::Rate),
            Sink::Trend(trend) => Sink::Trend(Box::new(trend.emptied())),
        }
    }

    pub fn samples(&self) -> u64 {
        match self {
            Sink::Counter { samples, .. } | Sink::Gauge { samples, .. } => *samples,
            Sink::Rate { total, .. } => *total,
            Sink::Trend(trend) => trend.count(),
        }
    }

    /// Adds one finite value.
    #[inline]
    pub fn add(&mut self, value: f64, at_ns: u64) {
        debug_assert!(value.is_finite(), "the recorder refuses {value}");
        match self {
            Sink::Trend(trend) => trend.add(value),
            Sink::Counter { .. } => self.add_times(value, 1),
            Sink::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Sink::Gauge { last, last_at_ns, min, max, samples } => {
                // Of 0 and -0, which are equal, whichever came first would be the lowest.
                let value = value + 0.0;
                if at_ns >= *last_at_ns {
                    (*last, *last_at_ns) = (value, at_ns);
                }
                *min = min.min(value);
                *max = max.max(value);
                *samples += 1;
            }
        }
    }

    /// Adds one finite value this many times to a Counter.
    fn add_times(&mut self, value: f64, times: u64) {
        if let Sink::Counter { sum, samples } = self {
            sum.add(value, times);
            *samples += times;
        }
    }

    /// Adds values that were never measured; only Trends take them.
    pub fn add_censored(&mut self, count: u64) {
        if let Sink::Trend(trend) = self {
            trend.add_censored(count);
        }
    }

    /// Whether anything came in.
    pub fn is_used(&self) -> bool {
        self.samples() > 0 || matches!(self, Sink::Trend(trend) if trend.censored() > 0)
    }

    /// The same for one that others need, too. A group is a Rate of its durations, which says no more than that there
    /// were some.
    pub fn merge_from(&mut self, other: &Sink) {
        match (self, other) {
            (Sink::Trend(own), Sink::Trend(theirs)) if own.count() == 0 && own.censored() == 0 => {
                own.clone_from(theirs)
            }
            (Sink::Trend(own), Sink::Trend(theirs)) => own.merge(theirs),
            (Sink::Rate { passes, total }, Sink::Trend(durations)) => {
                *passes += durations.others();
                *total += durations.count();
            }
            (own, theirs) => own.merge(theirs.clone()),
        }
    }

    /// Adds up the gauges of agents that tell how many of something each has, in one second.
    pub fn add_level(&mut self, other: Sink) {
        match (self, other) {
            (
                Sink::Gauge { last, last_at_ns, min, max, samples },
                Sink::Gauge { last: value, last_at_ns: at_ns, min: low, max: high, samples: count },
            ) if *samples > 0 && count > 0 => {
                *last += value;
                *last_at_ns = at_ns.max(*last_at_ns);
                *min += low;
                *max += high;
                *samples = count.max(*samples);
            }
            (own, other) => own.merge(other),
        }
    }

    /// The same for agents that told nothing in this second and have so many still.
    pub fn raise_level(&mut self, by: f64) {
        if let Sink::Gauge { last, min, max, .. } = self {
            (*last, *min, *max) = (*last + by, *min + by, *max + by);
        }
    }

    /// Adds what another sink of the same key holds.
    pub fn merge(&mut self, other: Sink) {
        match (self, other) {
            (Sink::Trend(own), Sink::Trend(theirs)) if own.count() == 0 && own.censored() == 0 => *own = theirs,
            (Sink::Trend(own), Sink::Trend(theirs)) => own.merge(&theirs),
            (Sink::Counter { sum, samples }, Sink::Counter { sum: more, samples: count }) => {
                sum.merge(&more);
                *samples += count;
            }
            (Sink::Rate { passes, total }, Sink::Rate { passes: more, total: count }) => {
                debug_assert!(*passes <= *total && more <= count, "{passes} of {total}, {more} of {count}");
                *passes += more;
                *total += count;
            }
            (
                Sink::Gauge { last, last_at_ns, min, max, samples },
                Sink::Gauge { last: value, last_at_ns: at_ns, min: low, max: high, samples: count },
            ) => {
                // Nobody knows which of two of one moment was later: the higher one counts, whoever is merged first.
                let order = at_ns.cmp(last_at_ns).then(value.total_cmp(last));
                if count > 0 && (*samples == 0 || order.is_gt()) {
                    (*last, *last_at_ns) = (value, at_ns);
                }
                *min = min.min(low);
                *max = max.max(high);
                *samples += count;
                debug_assert!(*samples == 0 || *min <= *last && *last <= *max, "{last} between {min} and {max}");
            }
            (own, theirs) => unreachable!("sinks of one key have one kind: {own:?} and {theirs:?}; this is a bug"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(kind: Kind, samples: &[(f64, u64)]) -> Sink {
        let mut sink = Sink::new(kind);
        samples.iter().for_each(|(value, at)| sink.add(*value, *at));
        sink
    }

    #[test]
    fn gauges_keep_the_latest_by_time() {
        let mut sink = filled(Kind::Gauge, &[(5.0, 20), (9.0, 10)]);
        sink.merge(filled(Kind::Gauge, &[(1.0, 15)]));
        let Sink::Gauge { last, min, max, samples, .. } = sink else { panic!("a gauge") };
        assert_eq!((last, min, max, samples), (5.0, 1.0, 9.0, 3));
    }

    #[test]
    fn rates_count_what_is_not_zero() {
        let mut sink = filled(Kind::Rate, &[(1.0, 0), (0.0, 0), (-2.0, 0)]);
        sink.merge(filled(Kind::Rate, &[(0.0, 0)]));
        assert!(matches!(sink, Sink::Rate { passes: 2, total: 4 }));
    }

    #[test]
    fn counters_sum() {
        let mut sink = filled(Kind::Counter, &[(1.0, 0), (2.5, 0)]);
        sink.merge(filled(Kind::Counter, &[(-0.5, 0)]));
        let Sink::Counter { sum, samples } = sink else { panic!("a counter") };
        assert_eq!((sum.value(), samples), (3.0, 3));
    }
    #[test]
    fn a_gauge_keeps_one_of_two_of_one_moment_and_nothing_of_an_empty_one() {
        let mut sink = filled(Kind::Gauge, &[(8.0, 20), (6.0, 20)]);
        sink.merge(Sink::new(Kind::Gauge));
        let told = |sink: &Sink| match sink {
            Sink::Gauge { last, min, max, samples, .. } => (*last, *min, *max, *samples),
            other => panic!("a gauge, not {other:?}"),
        };
        assert_eq!(told(&sink), (6.0, 6.0, 8.0, 2), "the later one of a recorder");
        let mut other = filled(Kind::Gauge, &[(7.0, 20)]);
        other.merge(sink.clone());
        sink.merge(filled(Kind::Gauge, &[(7.0, 20)]));
        assert_eq!(told(&sink), (7.0, 6.0, 8.0, 3), "the higher one of two recorders");
        assert_eq!(told(&other), told(&sink));
        sink.merge(filled(Kind::Gauge, &[(1.0, 19)]));
        assert_eq!(told(&sink), (7.0, 1.0, 8.0, 4));
        // The first one of all may have come at the beginning of time.
        let mut first = Sink::new(Kind::Gauge);
        first.merge(filled(Kind::Gauge, &[(-2.0, 0)]));
        assert_eq!(told(&first), (-2.0, -2.0, -2.0, 1));
        first.merge(Sink::new(Kind::Gauge));
        assert_eq!(told(&first), (-2.0, -2.0, -2.0, 1));
    }

    #[test]
    fn a_group_counts_its_durations() {
        let mut group = filled(Kind::Rate, &[(1.0, 0)]);
        group.merge_from(&filled(Kind::Trend, &[(2.5, 0), (0.0, 0), (0.0, 0)]));
        assert!(matches!(group, Sink::Rate { passes: 2, total: 4 }));
    }

    #[test]
    fn an_emptied_sink_takes_the_same_kind_again() {
        for kind in [Kind::Counter, Kind::Rate, Kind::Trend] {
            let sink = filled(kind, &[(2.0, 0), (0.0, 0)]);
            assert_eq!(sink.emptied().samples(), 0);
            assert_eq!(std::mem::discriminant(&sink.emptied()), std::mem::discriminant(&sink));
            let mut twice = sink.clone();
            twice.merge(sink);
            assert_eq!(twice.samples(), 4, "{kind:?}");
        }
    }

    #[test]
    fn groups_and_checks_are_in_the_tree() {
        let scope = |group: Option<&str>| Scope { scenario: None, group: group.map(Into::into) };
        let metric = |group| SinkKey::Metric(MetricId(0), scope(group));
        for (key, is_in_tree) in [
            (SinkKey::Group(scope(None)), true),
            (SinkKey::Check(scope(None), "c".into()), true),
            (metric(Some("::g")), true),
            (metric(None), false),
            (SinkKey::Sub(SubMetricId(0)), false),
        ] {
            assert_eq!(key.is_in_tree(), is_in_tree, "{key:?}");
        }
    }
}
