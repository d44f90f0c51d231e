//! What a result document comes to for a CI: cases, notices and figures. `comment` writes the text.
//!
//! The verdict on the generator is a case of its own, because figures of an INVALID run are no evidence even where all
//! thresholds held. A check that failed is a failure of its case and a warning beside its line; what fails the run is
//! said by its exit code, which is a case too.

use super::place::CiScript;
use super::{CiFigure, CiReport, Notice, NoticeLevel, comment};
use crate::document::{Check, Document, Finding, Judgement, Metric, Trust, Value, change_lines};
use crate::junit::{JunitCase, JunitSuite, Problem};
use crate::options::SummaryOptions;
use crate::steadiness;
use crate::text::{threshold_value, was_never_answered};
use metrics::results::TrendValue;

/// A threshold of a run, as CI formats show it.
pub(super) struct CiThreshold {
    /// `http_req_duration{name:login}`.
    pub(super) metric: String,
    /// `p(95)<500`.
    pub(super) source: String,
    /// `p(95)=612ms`.
    pub(super) found: String,
    pub(super) ok: bool,
    /// Whether there was anything to judge.
    pub(super) has_samples: bool,
    /// The limit lies inside of the interval of its percentile: more samples could turn it.
    pub(super) inside: bool,
    /// The value of its left side.
    pub(super) left: f64,
}

/// Everything that there is to tell of a run.
pub fn of_run(document: &Document, script: &CiScript) -> CiReport {
    let thresholds = thresholds(document);
    let mut cases = vec![verdict_case(document), exit_case(document, &thresholds)];
    cases.extend(thresholds.iter().map(threshold_case));
    cases.extend(document.checks.iter().map(check_case));
    let suite = JunitSuite { program: "onrush run", name: document.script.clone(), cases, remarks: remarks(document) };
    CiReport {
        suite,
        markdown: comment::run(document, &thresholds),
        notices: notices(document, &thresholds, script),
        figures: figures(document, &thresholds),
    }
}

/// The verdict and whether somebody overruled it; none where nobody judged.
pub(super) fn judged(document: &Document) -> Option<(&Judgement, bool)> {
    let generator = &document.generator;
    let judgement = generator.judgement.as_ref()?;
    (judgement.verdict != Trust::NotJudged).then_some((judgement, generator.late_accepted))
}

/// What is said below everything else.
pub(super) fn remarks(document: &Document) -> Vec<String> {
    let steady = document.steadiness.iter().flat_map(|found| steadiness::lines(found, None));
    let iterations = document.generator.judgement.iter().filter_map(|judgement| judgement.iterations.line());
    let changes = change_lines(&document.load_changes);
    document.generator.notes.iter().cloned().chain(iterations).chain(changes).chain(steady).collect()
}

pub(super) fn thresholds(document: &Document) -> Vec<CiThreshold> {
    let of = |metric: &Metric| {
        let result = metric.result();
        let options = SummaryOptions::default();
        let pairs = metric.thresholds.iter().zip(&result.thresholds);
        pairs
            .map(|(threshold, judged)| CiThreshold {
                metric: metric.key(),
                source: threshold.source.clone(),
                found: format!(
                    "{}={}",
                    judged.label,
                    threshold_value(&result, &judged.label, threshold.left, &options)
                ),
                ok: threshold.ok,
                has_samples: !threshold.without_samples,
                inside: threshold.inside,
                left: threshold.left,
            })
            .collect::<Vec<_>>()
    };
    document.metrics.iter().filter(|metric| !metric.thresholds.is_empty()).flat_map(of).collect()
}

fn verdict_case(document: &Document) -> JunitCase {
    let told = judged(document);
    let line = told.and_then(|(judgement, accepted)| judgement.line(accepted));
    let line = line.unwrap_or_else(|| String::from("not judged: too short, or a single iteration"));
    let problem = match told {
        Some((Judgement { verdict: Trust::Invalid, .. }, false)) => Some((Problem::Error, line.clone())),
        Some((Judgement { verdict: Trust::Suspect, .. }, false)) => Some((Problem::Skipped, line.clone())),
        _ => None,
    };
    let doubts = told.into_iter().flat_map(|(judgement, _)| judgement.doubts());
    let more = doubts.map(|doubt| format!("{}: {}; {}", doubt.title, doubt.text, doubt.advice));
    let out = std::iter::once(line).chain(more).collect::<Vec<_>>().join("\n");
    JunitCase { class: String::from("verdict"), name: String::from("generator"), problem, out }
}

fn exit_case(document: &Document, thresholds: &[CiThreshold]) -> JunitCase {
    let exit = &document.exit;
    let out = match &exit.reason {
        None => format!("exit code {}", exit.code),
        Some(reason) => format!("exit code {}: {reason}", exit.code),
    };
    let problem = fails_by_itself(document, thresholds).then(|| (Problem::Failure, out.clone()));
    JunitCase { class: String::from("run"), name: String::from("exit code"), problem, out }
}

/// Whether the run failed for a reason that no other case has.
pub(super) fn fails_by_itself(document: &Document, thresholds: &[CiThreshold]) -> bool {
    match document.exit.code {
        0 | 115 | 116 => false,
        99 => thresholds.iter().all(|threshold| threshold.ok),
        _ => true,
    }
}

/// What becomes of a threshold that nothing was measured for.
const NO_SAMPLE: &str = "no sample was measured for it, so it was not judged";

fn threshold_case(threshold: &CiThreshold) -> JunitCase {
    let CiThreshold { metric, source, found, ok, inside, has_samples, .. } = threshold;
    if !has_samples {
        return JunitCase {
            class: String::from("thresholds"),
            name: format!("{metric}: {source}"),
            problem: Some((Problem::Skipped, NO_SAMPLE.to_owned())),
            out: String::new(),
        };
    }
    let doubt = if *inside { "\nthe limit lies inside of the 95 % interval: run for longer to be sure" } else { "" };
    JunitCase {
        class: String::from("thresholds"),
        name: format!("{metric}: {source}"),
        problem: (!ok).then(|| (Problem::Failure, format!("{metric}: {found}, expected {source}"))),
        out: format!("{found}{doubt}"),
    }
}

fn check_case(check: &Check) -> JunitCase {
    let groups = check.path.strip_suffix(&check.name).unwrap_or_default().trim_end_matches("::");
    JunitCase {
        class: format!("checks{groups}"),
        name: check.name.clone(),
        problem: (check.fails > 0).then(|| (Problem::Failure, failed_check(check))),
        out: format!("{} passed, {} failed", check.passes, check.fails),
    }
}

/// `failed 2 of 8 times`.
pub(super) fn failed_check(check: &Check) -> String {
    format!("failed {} of {} times", check.fails, check.passes + check.fails)
}

fn notices(document: &Document, thresholds: &[CiThreshold], script: &CiScript) -> Vec<Notice> {
    let mut notices: Vec<Notice> = Vec::new();
    if let Some((judgement, false)) = judged(document) {
        notices.extend(judgement.doubts().map(|doubt| doubted(judgement.verdict, doubt, script)));
    }
    if fails_by_itself(document, thresholds) {
        let reason = document.exit.reason.as_deref().unwrap_or("the run failed");
        notices.push(Notice {
            level: NoticeLevel::Failed,
            check: "run",
            subject: document.exit.code.to_string(),
            message: format!("{reason} (exit code {})", document.exit.code),
            place: Some(script.itself()),
        });
    }
    notices.extend(thresholds.iter().filter_map(|threshold| of_threshold(threshold, script)));
    notices.extend(document.checks.iter().filter(|check| check.fails > 0).map(|check| Notice {
        level: NoticeLevel::Doubtful,
        check: "check",
        subject: check.path.clone(),
        message: format!("the check '{}' {}", check.name, failed_check(check)),
        place: Some(script.of_check(&check.name)),
    }));
    notices.extend(document.errors.exceptions.iter().map(|thrown| Notice {
        level: NoticeLevel::Doubtful,
        check: "exception",
        subject: thrown.what.clone(),
        message: format!("{} ended {} iterations", thrown.what, thrown.count),
        place: Some(script.of_exception(&thrown.what)),
    }));
    notices
}

fn doubted(verdict: Trust, doubt: &Finding, script: &CiScript) -> Notice {
    Notice {
        level: if verdict == Trust::Invalid { NoticeLevel::Invalid } else { NoticeLevel::Doubtful },
        check: "verdict",
        subject: doubt.cause.clone(),
        message: format!("{verdict}: {} ({}): {}; {}", doubt.title, doubt.figure, doubt.text, doubt.advice),
        place: Some(script.itself()),
    }
}

fn of_threshold(threshold: &CiThreshold, script: &CiScript) -> Option<Notice> {
    let CiThreshold { metric, source, found, ok, inside, has_samples, .. } = threshold;
    let (level, message) = match (ok, inside) {
        _ if !has_samples => (NoticeLevel::Doubtful, format!("{metric}: {source}: {NO_SAMPLE}")),
        (false, _) => (NoticeLevel::Failed, format!("{metric}: {found}, expected {source}")),
        (true, true) => {
            let why = "but the limit lies inside of the 95 % interval: run for longer to be sure";
            (NoticeLevel::Doubtful, format!("{metric}: {found}, as expected by {source}, {why}"))
        }
        (true, false) => return None,
    };
    let place = Some(script.of_threshold(metric, source));
    Some(Notice { level, check: "threshold", subject: format!("{metric}: {source}"), message, place })
}

/// What of a run is worth following from one to the next: rates, what users wait for, failures, and what thresholds
/// judge.
pub(super) fn figures(document: &Document, thresholds: &[CiThreshold]) -> Vec<CiFigure> {
    const FOLLOWED: [&str; 8] = [
        "http_reqs",
        "http_req_duration",
        "http_req_failed",
        "grpc_req_duration",
        "message_delay",
        "iterations",
        "iteration_duration",
        "checks",
    ];
    let metrics = FOLLOWED.iter().filter_map(|name| document.metric(name));
    let mut figures: Vec<CiFigure> = metrics.flat_map(of_metric).collect();
    figures.extend(thresholds.iter().map(|threshold| CiFigure {
        name: String::from("threshold_value"),
        labels: vec![("metric", threshold.metric.clone()), ("threshold", threshold.source.clone())],
        value: threshold.left,
    }));
    figures
}

fn of_metric(metric: &Metric) -> Vec<CiFigure> {
    let figure = |name: String, value| CiFigure { name, labels: Vec::new(), value };
    let name = &metric.name;
    match &metric.value {
        Value::Counter { rate, .. } => vec![figure(format!("{name}_per_second"), *rate)],
        Value::Gauge { value, .. } => vec![figure(name.clone(), *value)],
        Value::Rate { total: 0, .. } => Vec::new(),
        Value::Rate { passes, total } => {
            vec![figure(format!("{name}_percent"), *passes as f64 * 100.0 / *total as f64)]
        }
        Value::Trend(histogram) => {
            let trend = TrendValue::from(histogram.trend());
            if trend.count() == 0 || was_never_answered(&metric.result()) {
                return Vec::new();
            }
            let of = [("avg", trend.avg())].into_iter().chain(
                [("med", 50.0), ("p95", 95.0), ("p99", 99.0)].map(|(stat, percent)| (stat, trend.percentile(percent))),
            );
            of.filter(|(_, value)| value.is_finite())
                .map(|(stat, value)| figure(format!("{name}_{stat}_ms"), value))
                .collect()
        }
    }
}
