//! Judging thresholds against what has been measured.
//!
//! While the test runs, a metric without samples is not judged: nothing is known yet. At the end an empty Trend, Counter or
//! Gauge counts as 0; a Rate without samples has no share to compare, so its thresholds hold, as in k6.

use std::collections::HashMap;
use std::time::Duration;

use super::parse::Aggregation;
use super::spec::{Resolved, ThresholdError, ThresholdSpecs, resolve};
use super::{Expression, Target};
use crate::registry::Registry;
use crate::results::ThresholdResult;
use crate::sink::Sink;

/// When thresholds are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// In between.
    Running,
    /// After the last sample.
    End,
}

/// The outcome of a judgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Keys of the `thresholds` option that do not hold, in order.
    pub crossed: Vec<String>,
    /// Whether one of them asks for the test to end now.
    pub abort: bool,
}

/// The thresholds of a run and how they stand.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    pub(crate) groups: Vec<Judged>,
    /// Positions in `groups`.
    by_target: HashMap<Target, Vec<usize>>,
}

/// The thresholds of one metric or sub-metric.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub key: String,
    pub target: Target,
    thresholds: Vec<(Resolved, ThresholdResult)>,
}

impl Thresholds {
    /// Checks all thresholds and makes the sub-metrics they ask for. The first one that cannot be used is the error.
    pub fn resolve(specs: &ThresholdSpecs, registry: &Registry) -> Result<Self, ThresholdError> {
        let mut groups = Vec::new();
        let mut by_target: HashMap<Target, Vec<usize>> = HashMap::new();
        for (key, specs) in specs {
            let (target, resolved) = resolve(key, specs, registry)?;
            let thresholds = resolved.into_iter().map(|r| (r.clone(), untouched(&r.expression))).collect();
            by_target.entry(target).or_default().push(groups.len());
            groups.push(Judged { key: key.clone(), target, thresholds });
        }
        Ok(Thresholds { groups, by_target })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.thresholds.is_empty())
    }

    /// Judges all of them; `find` gives the combined samples of a target.
    pub(crate) fn judge<'a>(
        &mut self,
        elapsed: Duration,
        moment: Moment,
        find: impl Fn(Target) -> Option<&'a Sink>,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        for group in &mut self.groups {
            let sink = find(group.target).filter(|sink| sink.samples() > 0);
            if sink.is_none() && moment == Moment::Running {
                continue;
            }
            let mut crossed = false;
            for (threshold, result) in &mut group.thresholds {
                judge_one(threshold, result, sink, elapsed);
                crossed |= !result.ok;
                verdict.abort |= !result.ok && threshold.abort_on_fail && elapsed >= threshold.delay_abort_eval;
            }
            if crossed {
                verdict.crossed.push(group.key.clone());
            }
        }
        verdict
    }

    /// How the thresholds on a target stood when last judged.
    pub(crate) fn results(&self, target: Target) -> Vec<ThresholdResult> {
        let groups = self.by_target.get(&target).into_iter().flatten().map(|at| &self.groups[*at]);
        groups.flat_map(|group| group.thresholds.iter().map(|(_, result)| result.clone())).collect()
    }
}

fn untouched(expression: &Expression) -> ThresholdResult {
    ThresholdResult { source: expression.source.clone(), label: expression.label.clone(), left: 0.0, ok: true }
}

fn judge_one(threshold: &Resolved, result: &mut ThresholdResult, sink: Option<&Sink>, elapsed: Duration) {
    let Expression { aggregation, operator, limit, .. } = &threshold.expression;
    match sink {
        None if matches!(aggregation, Aggregation::Rate) => (result.left, result.ok) = (0.0, true),
        _ => {
            result.left = sink.map_or(0.0, |sink| left_side(*aggregation, sink, elapsed));
            result.ok = operator.holds(result.left, *limit);
        }
    }
}

/// What the left side of a threshold comes to.
fn left_side(aggregation: Aggregation, sink: &Sink, elapsed: Duration) -> f64 {
    match (aggregation, sink) {
        (Aggregation::Count, Sink::Counter { sum, .. }) => *sum,
        (Aggregation::Rate, Sink::Counter { sum, .. }) => per_second(*sum, elapsed),
        (Aggregation::Rate, Sink::Rate { passes, total }) => *passes as f64 / *total as f64,
        (Aggregation::Value, Sink::Gauge { last, .. }) => *last,
        (Aggregation::Avg, Sink::Trend(trend)) => trend.avg(),
        (Aggregation::Min, Sink::Trend(trend)) => trend.min(),
        (Aggregation::Max, Sink::Trend(trend)) => trend.max(),
        (Aggregation::Med, Sink::Trend(trend)) => trend.percentile(50.0),
        (Aggregation::Percentile(percent), Sink::Trend(trend)) => trend.percentile(percent),
        (other, sink) => unreachable!("{other:?} on {sink:?} is refused when thresholds are resolved; this is a bug"),
    }
}

/// A sum per second of the run; 0 for a run without length.
pub(crate) fn per_second(sum: f64, duration: Duration) -> f64 {
    if duration.is_zero() { 0.0 } else { sum / duration.as_secs_f64() }
}
