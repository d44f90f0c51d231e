//! Judging thresholds against what has been measured.
//!
//! While the test runs, a metric without samples is not judged: nothing is known yet. At the end an empty Trend,
//! Counter or Gauge counts as 0; a Rate without samples has no share to compare, so its thresholds hold, as in k6.

use std::collections::HashMap;
use std::time::Duration;

use super::parse::{Aggregation, Operator};
use super::spec::{Resolved, ThresholdError, ThresholdSpecs, resolve};
use super::{Expression, Target};
use crate::naming::metric::Kind;
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
    /// Those that nothing was measured for, judged at the end, in order.
    pub without_samples: Vec<String>,
    /// Whether one of them asks for the test to end now.
    pub abort: bool,
}

/// How a threshold stood when it was last judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// What it is set on, as the `thresholds` option has it: `http_req_duration{status:200}`.
    pub key: String,
    /// As written: `p(95)<500`.
    pub source: String,
    /// Its left side; none before there are samples to judge.
    pub left: Option<f64>,
    /// Whether it held.
    pub ok: bool,
    /// How far its left side is from its limit, as a share of the limit; negative beyond it. None for equality, and for
    /// a limit of 0.
    pub margin: Option<f64>,
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
    /// Whether there has been anything to judge.
    was_judged: bool,
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
            groups.push(Judged { key: key.clone(), target, was_judged: false, thresholds });
        }
        Ok(Thresholds { groups, by_target })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.thresholds.is_empty())
    }

    /// Whether the option names this target, with thresholds or with an empty list.
    pub(crate) fn names(&self, target: Target) -> bool {
        self.by_target.contains_key(&target)
    }

    /// Judges all of them; `find` gives the combined samples of a target, and how much of a sum is no part of a rate.
    pub(crate) fn judge<'a>(
        &mut self,
        elapsed: Duration,
        moment: Moment,
        find: impl Fn(Target) -> Option<(&'a Sink, f64)>,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        for group in &mut self.groups {
            let sink = find(group.target).filter(|(sink, _)| sink.is_used());
            if sink.is_none() && moment == Moment::Running {
                continue;
            }
            group.was_judged = true;
            if sink.is_none() && group.thresholds.first().is_some_and(|(one, _)| one.kind != Kind::Counter) {
                verdict.without_samples.push(group.key.clone());
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
        debug_assert!(!verdict.abort || !verdict.crossed.is_empty(), "a run ends early by a threshold that has a name");
        verdict
    }

    /// How all of them stood when last judged, in the option's order.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let of_group = |group: &Judged| -> Vec<Standing> {
            let of_one = |(threshold, result): &(Resolved, ThresholdResult)| Standing {
                key: group.key.clone(),
                source: result.source.clone(),
                left: group.was_judged.then_some(result.left),
                ok: result.ok,
                margin: margin(&threshold.expression, result.left).filter(|_| group.was_judged),
            };
            group.thresholds.iter().map(of_one).collect()
        };
        self.groups.iter().flat_map(of_group).collect()
    }

    /// How the thresholds on a target stood when last judged.
    pub(crate) fn results(&self, target: Target) -> Vec<ThresholdResult> {
        let groups = self.by_target.get(&target).into_iter().flatten().map(|at| &self.groups[*at]);
        groups.flat_map(|group| group.thresholds.iter().map(|(_, result)| result.clone())).collect()
    }
}

fn untouched(expression: &Expression) -> ThresholdResult {
    let Expression { source, label, .. } = expression;
    ThresholdResult { source: source.clone(), label: label.clone(), left: 0.0, ok: true, has_samples: false }
}

fn judge_one(threshold: &Resolved, result: &mut ThresholdResult, sink: Option<(&Sink, f64)>, elapsed: Duration) {
    let Expression { aggregation, operator, limit, .. } = &threshold.expression;
    // What was counted never is known: it was not.
    result.has_samples = sink.is_some() || threshold.kind == Kind::Counter;
    match sink {
        None if threshold.kind == Kind::Rate => (result.left, result.ok) = (0.0, true),
        _ => {
            result.left = sink.map_or(0.0, |(sink, aside)| left_side(*aggregation, sink, aside, elapsed));
            result.ok = operator.holds(result.left, *limit);
        }
    }
}

fn margin(Expression { operator, limit, .. }: &Expression, left: f64) -> Option<f64> {
    let distance = match operator {
        Operator::Less | Operator::LessOrEqual => limit - left,
        Operator::Greater | Operator::GreaterOrEqual => left - limit,
        Operator::Equal | Operator::NotEqual => return None,
    };
    (*limit != 0.0).then(|| distance / limit.abs())
}

/// What the left side of a threshold comes to.
fn left_side(aggregation: Aggregation, sink: &Sink, aside: f64, elapsed: Duration) -> f64 {
    match (aggregation, sink) {
        (Aggregation::Count, Sink::Counter { sum, .. }) => sum.value(),
        (Aggregation::Rate, Sink::Counter { sum, .. }) => per_second(sum.value() - aside, elapsed),
        (Aggregation::Rate, Sink::Rate { passes, total }) => {
            debug_assert!(*total > 0 && passes <= total, "only what has samples is judged: {passes} of {total}");
            *passes as f64 / *total as f64
        }
        (Aggregation::Value, Sink::Gauge { last, .. }) => *last,
        (Aggregation::Avg, Sink::Trend(trend)) => trend.avg(),
        (Aggregation::Min, Sink::Trend(trend)) => trend.min(),
        (Aggregation::Max, Sink::Trend(trend)) => trend.max(),
        (Aggregation::Med, Sink::Trend(trend)) => trend.percentile(50.0),
        (Aggregation::Percentile(percent), Sink::Trend(trend)) => trend.percentile(percent),
        (other, sink) => unreachable!("{other:?} on {sink:?} is refused when thresholds are resolved; this is a bug"),
    }
}

/// A sum per second of the load; 0 for one without length.
pub(crate) fn per_second(sum: f64, duration: Duration) -> f64 {
    if duration.is_zero() { 0.0 } else { sum / duration.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A sink of the kind that the metric has, filled with `values`.
    fn sink(kind: Kind, values: &[f64]) -> Sink {
        let mut sink = Sink::new(kind);
        (0..).zip(values).for_each(|(at_ns, value)| sink.add(*value, at_ns));
        sink
    }

    fn thresholds(option: &str) -> Thresholds {
        Thresholds::resolve(&serde_json::from_str(option).unwrap(), &Registry::new()).unwrap()
    }

    /// What is left of the operator, and whether it holds.
    fn judged(option: &str, sink: Option<&Sink>, elapsed: Duration, moment: Moment) -> (f64, bool) {
        let mut thresholds = thresholds(option);
        thresholds.judge(elapsed, moment, |_| sink.map(|sink| (sink, 0.0)));
        let target = thresholds.groups[0].target;
        let result = &thresholds.results(target)[0];
        (result.left, result.ok)
    }

    #[test]
    fn a_margin_is_a_share_of_the_limit() {
        let of = |option: &str, values: &[f64]| {
            let (mut thresholds, sink) = (thresholds(option), sink(Kind::Trend, values));
            thresholds.judge(SECOND, Moment::Running, |_| Some((&sink, 0.0)));
            let standing = thresholds.standings().remove(0);
            (standing.left, standing.ok, standing.margin)
        };
        assert_eq!(of(r#"{"http_req_duration":["max<200"]}"#, &[50.0]), (Some(50.0), true, Some(0.75)));
        assert_eq!(of(r#"{"http_req_duration":["max<=200"]}"#, &[300.0]), (Some(300.0), false, Some(-0.5)));
        assert_eq!(of(r#"{"http_req_duration":["min>20"]}"#, &[30.0]), (Some(30.0), true, Some(0.5)));
        assert_eq!(of(r#"{"http_req_duration":["min!=0"]}"#, &[30.0]), (Some(30.0), true, None));
        assert_eq!(of(r#"{"http_req_duration":["min>0"]}"#, &[30.0]), (Some(30.0), true, None));
        let waiting = thresholds(r#"{"http_req_duration":["max<200"]}"#).standings().remove(0);
        assert_eq!((waiting.left, waiting.ok, waiting.margin), (None, true, None));
        assert_eq!((waiting.key.as_str(), waiting.source.as_str()), ("http_req_duration", "max<200"));
    }

    #[test]
    fn the_left_side_is_what_the_aggregation_says() {
        let end = |option: &str, sink: &Sink| judged(option, Some(sink), 4 * SECOND, Moment::End);
        let counter = sink(Kind::Counter, &[3.0, 5.0]);
        assert_eq!(end(r#"{"http_reqs":["count==8"]}"#, &counter), (8.0, true));
        assert_eq!(end(r#"{"http_reqs":["rate>2"]}"#, &counter), (2.0, false));
        let rate = sink(Kind::Rate, &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!(end(r#"{"checks":["rate>=0.25"]}"#, &rate), (0.25, true));
        let gauge = sink(Kind::Gauge, &[7.0, 6.0]);
        assert_eq!(end(r#"{"vus":["value<6"]}"#, &gauge), (6.0, false));
        let trend = sink(Kind::Trend, &[1.0, 2.0, 9.0]);
        let cases = [("avg", 4.0), ("min", 1.0), ("max", 9.0), ("med", 2.0), ("p(100)", 9.0)];
        for (aggregation, expected) in cases {
            let option = format!(r#"{{"iteration_duration":["{aggregation}<100"]}}"#);
            let (left, ok) = end(&option, &trend);
            assert!(ok && (left - expected).abs() <= expected * 1e-3, "{aggregation}: {left}");
        }
    }

    #[test]
    fn a_metric_without_samples_is_judged_at_the_end_alone() {
        let crossed = |option, moment| thresholds(option).judge(SECOND, moment, |_| None).crossed;
        assert_eq!(crossed(r#"{"http_reqs":["count>0"]}"#, Moment::Running), Vec::<String>::new());
        assert_eq!(crossed(r#"{"http_reqs":["count>0"]}"#, Moment::End), ["http_reqs"]);
        assert_eq!(crossed(r#"{"http_reqs":["rate>0"]}"#, Moment::End), ["http_reqs"], "of a counter: by the second");
        assert_eq!(crossed(r#"{"checks":["rate>0.9"]}"#, Moment::End), Vec::<String>::new(), "no share to compare");
        let empty = Sink::new(Kind::Counter);
        assert_eq!(judged(r#"{"http_reqs":["rate<1"]}"#, Some(&empty), SECOND, Moment::End), (0.0, true));
    }

    #[test]
    fn a_test_is_aborted_from_the_delay_on() {
        let option = r#"{"checks":[{"threshold":"rate>0.9","abortOnFail":true,"delayAbortEval":"2s"}]}"#;
        let (bad, good) = (sink(Kind::Rate, &[0.0]), sink(Kind::Rate, &[1.0]));
        let aborts =
            |sink: &Sink, elapsed| thresholds(option).judge(elapsed, Moment::Running, |_| Some((sink, 0.0))).abort;
        let before = Duration::from_millis(1999);
        assert_eq!([before, 2 * SECOND, 3 * SECOND].map(|elapsed| aborts(&bad, elapsed)), [false, true, true]);
        assert!(!aborts(&good, 3 * SECOND));
        let only_told = thresholds(r#"{"checks":["rate>0.9"]}"#).judge(SECOND, Moment::Running, |_| Some((&bad, 0.0)));
        assert_eq!(only_told, Verdict { crossed: vec!["checks".to_owned()], ..Verdict::default() });
    }

    #[test]
    fn one_crossed_threshold_among_several_is_enough() {
        let option = r#"{"checks":["rate<0.1","rate>0.9","rate<0.2"],"vus":[]}"#;
        let mut both = thresholds(option);
        let bad = sink(Kind::Rate, &[0.0]);
        let verdict = both.judge(SECOND, Moment::Running, |_| Some((&bad, 0.0)));
        assert_eq!(verdict.crossed, ["checks"]);
        let held: Vec<bool> = both.results(both.groups[0].target).iter().map(|result| result.ok).collect();
        assert_eq!(held, [true, false, true]);
        assert!(!both.is_empty() && thresholds(r#"{"vus":[]}"#).is_empty());
    }

    #[test]
    fn a_run_without_length_has_no_rate() {
        assert_eq!((per_second(8.0, Duration::ZERO), per_second(8.0, 4 * SECOND)), (0.0, 2.0));
    }
}
