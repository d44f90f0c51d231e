//! What is read from a result: one number a run, with a direction that is good.
//!
//! `http_req_duration:p(95)` names a metric and a statistic; without one counters give their rate, rates their share,
//! gauges their last value, trends the median, p(95) and p(99). A sub-metric is named with its filter, and `:higher` or
//! `:lower` at the end says which way is good where the metric's name does not. Two measures are no metrics of a run:
//! `generator_cpu` and bytes per request.

use std::fmt;

use metrics::metric::Kind;
use units::suggest;

use crate::document::{Contains, Document, Metric, Value};
use crate::options::TrendStat;
use crate::stats::Direction;

/// CPU time of the generator for each request (iteration, where there are no requests), in ms.
pub const GENERATOR_CPU: &str = "generator_cpu";

/// One number of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedValue {
    /// Where it comes from.
    pub source: Source,
    /// Which way is good.
    pub direction: Direction,
}

/// Where a measure comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A statistic of a metric.
    Metric {
        /// Name without filter.
        name: String,
        /// The text between the braces, for a sub-metric.
        filter: Option<String>,
        /// Which number of it.
        stat: Stat,
    },
    /// CPU time of the generator for each request.
    GeneratorCpu,
    /// A counter divided by the requests (iterations, where there are none).
    PerRequest(String),
}

/// Which number of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Stat {
    /// Of a counter, per second of the run.
    PerSecond,
    /// Of a counter.
    Sum,
    /// Of a rate: passes among all, 0 to 1.
    Share,
    /// Of a gauge: the last.
    Last,
    /// Of a trend.
    Trend(TrendStat),
}

/// A measure as a user names it, before it is known of what kind the metric is.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// As written.
    pub text: String,
    name: String,
    filter: Option<String>,
    stat: Option<String>,
    direction: Option<Direction>,
}

impl Wanted {
    /// Reads `NAME[{FILTER}][:STATISTIC][:higher|:lower]`.
    pub fn parse(text: &str) -> Result<Wanted, String> {
        let refuse = || {
            format!(
                "found '{text}', expected METRIC[{{TAG:VALUE}}][:STATISTIC][:higher|:lower], as in \
                 http_req_duration:p(99)"
            )
        };
        let text = text.trim();
        let (name, filter, rest) = match text.split_once('{') {
            Some((name, after)) => {
                let (filter, rest) = after.rsplit_once('}').ok_or_else(refuse)?;
                (
                    name,
                    Some(filter.to_owned()),
                    rest.strip_prefix(':').or(rest.is_empty().then_some("")).ok_or_else(refuse)?,
                )
            }
            None => {
                let (name, rest) = text.split_once(':').unwrap_or((text, ""));
                (name, None, rest)
            }
        };
        if name.trim().is_empty() || text.ends_with(':') {
            return Err(refuse());
        }
        let (mut stat, mut direction) = (None, None);
        for part in rest.split(':').map(str::trim).filter(|part| !part.is_empty()) {
            match part {
                "higher" if direction.is_none() => direction = Some(Direction::Higher),
                "lower" if direction.is_none() => direction = Some(Direction::Lower),
                _ if stat.is_none() && direction.is_none() => stat = Some(part.to_owned()),
                _ => return Err(refuse()),
            }
        }
        Ok(Wanted { text: text.to_owned(), name: name.trim().to_owned(), filter, stat, direction })
    }

    /// A statistic of a metric, as `--fail-on 'p(95) +5%'` means it.
    pub(super) fn of(name: &str, stat: &str) -> Wanted {
        Wanted {
            text: stat.to_owned(),
            name: name.to_owned(),
            filter: None,
            stat: Some(stat.to_owned()),
            direction: None,
        }
    }

    /// The measures it means, given the results it is asked of.
    pub fn resolve(&self, documents: &[&Document]) -> Result<Vec<ComparedValue>, String> {
        if self.name == GENERATOR_CPU {
            return Ok(vec![ComparedValue { source: Source::GeneratorCpu, direction: Direction::Lower }]);
        }
        let found = documents.iter().find_map(|document| find(document, &self.name, self.filter.as_deref()));
        let metric = found.ok_or_else(|| self.unknown(documents))?;
        let (stats, filter) = (self.stats(metric)?, metric.filter.clone());
        let measure = |stat: Stat| {
            let usual = usual_direction(&self.name, &stat, metric.contains);
            let source = Source::Metric { name: self.name.clone(), filter: filter.clone(), stat };
            ComparedValue { source, direction: self.direction.unwrap_or(usual) }
        };
        Ok(stats.into_iter().map(measure).collect())
    }

    fn stats(&self, metric: &Metric) -> Result<Vec<Stat>, String> {
        let kind = metric.kind();
        let refuse = |expected: &str| {
            let found = self.stat.as_deref().unwrap_or_default();
            format!("'{}': {} is a {}: found '{found}', expected {expected}", self.text, metric.key(), kind.name())
        };
        match (kind, self.stat.as_deref()) {
            (Kind::Counter, None | Some("rate")) => Ok(vec![Stat::PerSecond]),
            (Kind::Counter, Some("count")) => Ok(vec![Stat::Sum]),
            (Kind::Counter, _) => Err(refuse("rate or count")),
            (Kind::Rate, None | Some("rate")) => Ok(vec![Stat::Share]),
            (Kind::Rate, _) => Err(refuse("rate")),
            (Kind::Gauge, None | Some("value")) => Ok(vec![Stat::Last]),
            (Kind::Gauge, _) => Err(refuse("value")),
            (Kind::Trend, None) => Ok(percentiles()),
            (Kind::Trend, Some(text)) => {
                let stat = text.parse().map_err(|error| format!("'{}': {error}", self.text))?;
                Ok(vec![Stat::Trend(stat)])
            }
        }
    }

    fn unknown(&self, documents: &[&Document]) -> String {
        let keys: Vec<String> = documents.iter().flat_map(|d| &d.metrics).map(Metric::key).collect();
        let own = self.filter.as_ref().map_or(self.name.clone(), |filter| format!("{}{{{filter}}}", self.name));
        let hint = suggest::hint(&own, keys.iter().map(String::as_str));
        format!("no result has a metric '{own}'{hint}")
    }
}

/// The statistics that trends are compared by.
pub(super) fn percentiles() -> Vec<Stat> {
    let percentile = |percent: f64| TrendStat::Percentile { label: format!("p({percent})"), percent };
    [TrendStat::Med, percentile(95.0), percentile(99.0)].map(Stat::Trend).to_vec()
}

/// The metric; filters are alike when they ask for the same tags.
fn find<'a>(document: &'a Document, name: &str, filter: Option<&str>) -> Option<&'a Metric> {
    let Some(filter) = filter else { return document.metric(name) };
    let exact = |metric: &&Metric| metric.name == name && metric.filter.as_deref() == Some(filter);
    document.metrics.iter().find(exact).or_else(|| {
        let tags: Vec<_> = filter.split(',').filter_map(|part| part.trim().split_once(':')).collect();
        document.sub_metric(name, &tags)
    })
}

/// More requests and passed checks are good; failures, times and what was dropped are bad; nobody knows of the rest.
pub(super) fn usual_direction(name: &str, stat: &Stat, contains: Contains) -> Direction {
    match (name, stat) {
        ("http_reqs" | "iterations" | "ws_msgs_received" | "checks", _) => Direction::Higher,
        ("http_req_failed" | "dropped_iterations" | "iterations_threw", _) => Direction::Lower,
        (_, Stat::Trend(TrendStat::Count)) => Direction::Unknown,
        (_, Stat::Trend(_)) if contains == Contains::Time => Direction::Lower,
        _ => Direction::Unknown,
    }
}

impl ComparedValue {
    /// Its value in this result; none when the run has no samples of it.
    pub fn of(&self, document: &Document) -> Option<f64> {
        match &self.source {
            Source::GeneratorCpu => {
                Some(document.generator.process_cores * document.rate_time_s() * 1e3 / requests(document)?)
            }
            Source::PerRequest(counter) => Some(sum(document, counter)? / requests(document)?),
            Source::Metric { name, filter, stat } => {
                let metric = find(document, name, filter.as_deref());
                // A counter that nothing was added to is not in the document.
                let Some(metric) = metric else {
                    return matches!(stat, Stat::PerSecond | Stat::Sum).then_some(0.0);
                };
                of_metric(metric, stat)
            }
        }
        .filter(|value| value.is_finite())
    }

    /// What the values are.
    pub fn contains(&self, document: &Document) -> Contains {
        match &self.source {
            Source::GeneratorCpu => Contains::Time,
            Source::PerRequest(_) => Contains::Data,
            Source::Metric { stat: Stat::Trend(TrendStat::Count), .. } => Contains::Default,
            Source::Metric { name, filter, .. } => {
                find(document, name, filter.as_deref()).map_or(Contains::Default, |metric| metric.contains)
            }
        }
    }

    /// The metric of a result that it is read from.
    pub(super) fn metric<'a>(&self, document: &'a Document) -> Option<&'a Metric> {
        match &self.source {
            Source::Metric { name, filter, .. } => find(document, name, filter.as_deref()),
            Source::GeneratorCpu | Source::PerRequest(_) => None,
        }
    }

    /// Whether it is a share, whose differences are given in percentage points.
    pub fn is_share(&self) -> bool {
        matches!(self.source, Source::Metric { stat: Stat::Share, .. })
    }
}

impl fmt::Display for ComparedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::GeneratorCpu => write!(f, "{GENERATOR_CPU} a request"),
            Source::PerRequest(name) => write!(f, "{name} a request"),
            Source::Metric { name, filter, stat } => {
                write!(f, "{name}")?;
                if let Some(filter) = filter {
                    write!(f, "{{{filter}}}")?;
                }
                match stat {
                    Stat::PerSecond => write!(f, " /s"),
                    Stat::Sum => write!(f, " count"),
                    Stat::Share | Stat::Last => Ok(()),
                    Stat::Trend(stat) => write!(f, " {}", stat.label()),
                }
            }
        }
    }
}

fn of_metric(metric: &Metric, stat: &Stat) -> Option<f64> {
    match (&metric.value, stat) {
        (Value::Counter { rate, .. }, Stat::PerSecond) => Some(*rate),
        (Value::Counter { count, .. }, Stat::Sum) => Some(*count),
        (Value::Rate { passes, total }, Stat::Share) if *total > 0 => Some(*passes as f64 / *total as f64),
        (Value::Gauge { value, .. }, Stat::Last) => Some(*value),
        (Value::Trend(histogram), Stat::Trend(stat)) if histogram.count > 0 => Some(stat.of(&histogram.trend().into())),
        _ => None,
    }
}

fn sum(document: &Document, name: &str) -> Option<f64> {
    match document.metric(name)?.value {
        Value::Counter { count, .. } => Some(count),
        _ => None,
    }
}

/// Requests of the run, or its iterations; none when it made neither.
pub(super) fn requests(document: &Document) -> Option<f64> {
    let count = |name| sum(document, name).filter(|count| *count > 0.0);
    count("http_reqs").or_else(|| count("iterations"))
}
