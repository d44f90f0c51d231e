//! Figures of which a run knows one side. Requests that timed out, or were under way when the test ended, would have
//! taken longer than was seen of them: percentiles that they reach are *at least* what is printed. Of iterations that
//! an arrival rate planned and that never started the same is true of the load as a whole. Where the generator was the
//! limit, the target holds *at least* the rate that was made. Responses that the kernel did not stamp and the program
//! read late took *at most* what is printed.

use metrics::ErrorKind;
use metrics::results::{MetricResult, Results, Value};
use units::show::{grouped, percent, time};

use crate::document::{Judgement, KnownSide, LimitName, OneSided};
use crate::format;
use crate::options::{SummaryOptions, TrendStat};
use crate::timing_error::TimingFacts;

/// The response times that iterations wait for.
const DURATION: &str = "http_req_duration";
/// Requests by number and rate.
const REQUESTS: &str = "http_reqs";
/// A smaller share of unseen ends moves no percentile that is usually read.
const NOTABLE: f64 = 0.000_5;
/// From this share on requests without a stamp move what is printed.
const MANY: f64 = 0.1;
/// Less is within the noise of a machine.
const LATE_MS: f64 = 1.0;
/// What a request that ran out of its time is counted as.
const TIMEOUT: &str = "request timeout";

/// All of them.
pub fn one_sided(results: &Results, judgement: &Judgement) -> Vec<OneSided> {
    unseen_ends(results).into_iter().chain(not_started(results, judgement)).chain(limited(results, judgement)).collect()
}

fn measured(results: &Results) -> u64 {
    match results.metric(DURATION).map(|metric| &metric.value) {
        Some(Value::Trend(trend)) => trend.count(),
        _ => 0,
    }
}

/// Requests whose end nobody saw.
fn unseen_ends(results: &Results) -> Option<OneSided> {
    let is_timeout = |kind: &ErrorKind| matches!(kind, ErrorKind::NoAnswer(what) if what.contains(TIMEOUT));
    let timed_out: u64 = results.errors.iter().filter(|e| is_timeout(&e.kind)).map(|error| error.count).sum();
    let under_way = results.count("http_reqs_interrupted");
    let all = measured(results) + under_way;
    let share = (timed_out + under_way) as f64 / all.max(1) as f64;
    let said = |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", grouped(count)));
    let why = [said(timed_out, "timed out"), said(under_way, "were under way when the test ended")];
    let why: Vec<String> = why.into_iter().flatten().collect();
    (share > NOTABLE && measured(results) > 0).then(|| OneSided {
        metric: DURATION.to_owned(),
        from_percentile: Some(rounded(100.0 * (1.0 - share))),
        side: KnownSide::AtLeast,
        why: format!("of {} requests {}", grouped(all), why.join(" and ")),
    })
}

/// Iterations that should have started: the load was less than planned, and response times are those of that load.
fn not_started(results: &Results, judgement: &Judgement) -> Option<OneSided> {
    let (planned, dropped) = (judgement.iterations.planned, judgement.iterations.dropped);
    let share = dropped as f64 / planned.max(1) as f64;
    (share > NOTABLE && measured(results) > 0).then(|| OneSided {
        metric: DURATION.to_owned(),
        from_percentile: Some(0.0),
        side: KnownSide::AtLeast,
        why: format!(
            "{} of the planned iterations never started, so the load was less than planned",
            percent(share, 1)
        ),
    })
}

/// Responses that the program has timed, and its event loops were late to read: they came earlier than it says.
pub fn read_late(facts: &TimingFacts<'_>) -> Option<OneSided> {
    let share = facts.unstamped as f64 / facts.requests.max(1) as f64;
    (share > MANY && facts.loop_late_ms > LATE_MS).then(|| OneSided {
        metric: DURATION.to_owned(),
        from_percentile: Some(0.0),
        side: KnownSide::AtMost,
        why: format!(
            "the kernel stamped no arrival of {} of {} requests, and they were read up to {} late (99 of 100)",
            grouped(facts.unstamped),
            grouped(facts.requests),
            time(facts.loop_late_ms)
        ),
    })
}

fn limited(results: &Results, judgement: &Judgement) -> Option<OneSided> {
    let limit = judgement.limit.as_ref().filter(|limit| limit.name == LimitName::Generator)?;
    (results.count(REQUESTS) > 0).then(|| OneSided {
        metric: REQUESTS.to_owned(),
        from_percentile: None,
        side: KnownSide::AtLeast,
        why: format!("{}: the target may hold more", limit.name.sentence()),
    })
}

/// To a hundredth of a percentile, downwards.
fn rounded(percentile: f64) -> f64 {
    (percentile * 100.0).floor() / 100.0
}

/// A line for each, with the figures that are shown.
pub fn lines(results: &Results, options: &SummaryOptions) -> Vec<String> {
    let all = options.judgement.iter().flat_map(|judgement| &judgement.one_sided);
    all.filter_map(|known| line(known, results.metric(&known.metric)?, options)).collect()
}

fn line(known: &OneSided, metric: &MetricResult, options: &SummaryOptions) -> Option<String> {
    let show = |value: f64| format::value(value, metric.contains, options.time_unit);
    let figures: Vec<String> = match (&metric.value, known.from_percentile) {
        (Value::Trend(trend), Some(from)) => {
            let reached = |stat: &&TrendStat| stat.percent().is_some_and(|percent| percent >= from);
            let stats = options.trend_stats.iter().filter(reached);
            stats.map(|stat| format!("{} {}", stat.label(), show(stat.of(trend)))).collect()
        }
        (Value::Counter { rate, .. }, None) => vec![format!("{}/s", show(*rate))],
        _ => Vec::new(),
    };
    let (name, side, why) = (&known.metric, known.side.text(), &known.why);
    (!figures.is_empty()).then(|| format!("{name} is {side} what is shown ({}): {why}", figures.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metrics::ErrorCount;
    use metrics::results::{GroupResult, TrendValue};
    use metrics::{Contains, Kind, Trend};

    use super::*;
    use crate::document::{Iterations, RunLimit, Trust};

    fn metric(name: &str, value: Value) -> MetricResult {
        let (kind, contains) = match value {
            Value::Trend(_) => (Kind::Trend, Contains::Time),
            _ => (Kind::Counter, Contains::Default),
        };
        MetricResult { name: name.to_owned(), filter: None, kind, contains, value, thresholds: Vec::new() }
    }

    /// 1,000 response times, of which so many timed out, and requests that were under way at the end.
    fn results(timed_out: u64, under_way: u64) -> Results {
        let mut trend = Trend::default();
        (1..=1000).for_each(|ms| trend.add(f64::from(ms)));
        let counter = |count: u64| Value::Counter { count: count as f64, rate: count as f64 / 10.0 };
        let timeout = ErrorKind::NoAnswer(TIMEOUT.into());
        Results {
            duration: Duration::from_secs(10),
            metrics: vec![
                metric(DURATION, Value::Trend(TrendValue::from(trend))),
                metric(REQUESTS, counter(1000)),
                metric("http_reqs_interrupted", counter(under_way)),
            ],
            root: GroupResult::default(),
            checks: Vec::new(),
            scenarios: Vec::new(),
            errors: vec![ErrorCount { kind: timeout, count: timed_out }],
            requests: metrics::requests::RequestTable::default(),
        }
    }

    fn judgement(planned: u64, dropped: u64, limit: Option<LimitName>) -> Judgement {
        let limit = limit.map(|name| RunLimit { name, between: Vec::new(), evidence: String::new() });
        Judgement {
            verdict: Trust::Trusted,
            causes: Vec::new(),
            basis: String::new(),
            iterations: Iterations { planned, ended: planned - dropped, dropped, interrupted: 0 },
            limit,
            timing_error: None,
            one_sided: Vec::new(),
        }
    }

    fn said(results: &Results, judgement: Judgement) -> Vec<String> {
        let judgement = Judgement { one_sided: one_sided(results, &judgement), ..judgement };
        lines(results, &SummaryOptions { judgement: Some(judgement), ..SummaryOptions::default() })
    }

    #[test]
    fn requests_without_a_seen_end_reach_the_percentiles_above_them() {
        let found = one_sided(&results(30, 20), &judgement(1020, 0, None));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].from_percentile, found[0].side), (Some(95.09), KnownSide::AtLeast));
        assert_eq!(said(&results(30, 20), judgement(1020, 0, None)), Vec::<String>::new(), "p(95) is not reached");
        let many = said(&results(60, 0), judgement(1000, 0, None));
        let expected = "http_req_duration is at least what is shown (p(95) 950.05ms): of 1,000 requests 60 timed out";
        assert_eq!(many, [expected]);
    }

    #[test]
    fn what_was_read_late_came_earlier() {
        let facts = TimingFacts { checked: &[], requests: 1000, unstamped: 1000, loop_late_ms: 2.5 };
        let found = read_late(&facts).expect("all were read late");
        assert_eq!(found.side, KnownSide::AtMost);
        let expected = "all of http_req_duration is at most what is shown: the kernel stamped no arrival of 1,000 of \
            1,000 requests, and they were read up to 2.5ms late (99 of 100)";
        assert_eq!(found.sentence(), expected);
        assert_eq!(read_late(&TimingFacts { loop_late_ms: 0.2, ..facts }), None);
        assert_eq!(read_late(&TimingFacts { unstamped: 9, ..facts }), None);
    }

    #[test]
    fn a_run_whose_requests_all_ended_has_both_sides() {
        assert!(one_sided(&results(0, 0), &judgement(1000, 0, Some(LimitName::TargetCpu))).is_empty());
    }

    #[test]
    fn a_load_below_its_plan_and_a_generator_at_its_limit_are_said() {
        let dropped = said(&results(0, 0), judgement(1250, 250, None));
        assert!(
            dropped[0].contains("(med 500.5ms, p(90) 900.1ms, p(95) 950.05ms): 20.0 % of the planned"),
            "{dropped:?}"
        );
        let limited = said(&results(0, 0), judgement(1000, 0, Some(LimitName::Generator)));
        let expected = "http_reqs is at least what is shown (100/s): the generator was the limit: the target may hold \
            more";
        assert_eq!(limited, [expected]);
    }
}
