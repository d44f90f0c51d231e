//! The first screen: what was run, whether it was good, whether it was slow and when, whether to believe it.

use std::fmt::Write;

use units::show;

use super::intervals::Intervals;
use super::requests;
use super::shown_run::{ShownRun, facts, plain};
use crate::document::{Document, Finding, Judgement, Metric, OneSided, Steadiness, Trust, Value, change_lines};
use crate::html::Text;
use crate::html::chart::clock_text;
use crate::text::was_never_answered;
use crate::threshold_counts::ThresholdCounts;
use crate::{stats, steadiness};

/// Title, facts, verdict and the most important figures.
pub(super) fn head(run: &ShownRun<'_>) -> String {
    let document = run.document;
    let labels = document
        .labels
        .iter()
        .map(|(name, value)| format!("<span class=\"label\">{}={}</span>", Text(name), Text(value)));
    let about = [
        plain(&document.started_at.replace('T', " ").replace('Z', " UTC")),
        format!("ran {}", plain(&show::time((document.duration_s * 1e3).round()))),
        format!("{} on {} cores", plain(&document.environment.cpu_model), document.environment.cores),
        format!("Onrush {}", plain(&document.onrush)),
        labels.collect::<Vec<_>>().join(" "),
    ];
    let verdict = [
        outcome(document),
        trust(document),
        limit(document),
        timing_error(document),
        one_sided(document),
        load(document),
        errors(document),
        failures(run),
        speed(run),
        steady(run),
    ];
    let mut list = String::from("<ul class=\"verdict\">\n");
    for HeadLine { class, head, text } in verdict.into_iter().flatten() {
        let _ = writeln!(list, "<li class=\"{class}\"><strong>{}</strong>{}</li>", Text(head), Text(&text));
    }
    list.push_str("</ul>");
    format!("<header>\n<h1>{}</h1>\n{}\n{list}\n{}\n</header>", Text(&document.script), facts(&about), tiles(run))
}

/// One line of the verdict.
struct HeadLine {
    class: &'static str,
    head: &'static str,
    text: String,
}

fn outcome(document: &Document) -> Option<HeadLine> {
    let thresholds: Vec<_> = document.metrics.iter().flat_map(|m| m.thresholds.iter().map(move |t| (m, t))).collect();
    let failed: Vec<String> = thresholds
        .iter()
        .filter(|(_, t)| !t.ok && !t.without_samples)
        .map(|(m, t)| format!("{}: {}", m.key(), t.source))
        .collect();
    let counts = ThresholdCounts::of(thresholds.iter().map(|(_, t)| (!t.without_samples, t.ok)));
    let told = match failed.is_empty() {
        true => counts.text(),
        false => format!("{}: {}", counts.text(), failed.join(", ")),
    };
    let reason = document.exit.reason.as_deref().unwrap_or("failed");
    Some(match document.exit.code {
        0 if thresholds.is_empty() && !errors_named(document).is_empty() => {
            HeadLine { class: "warn", head: "Not judged:", text: format!("{told}, and there were errors") }
        }
        0 if counts.held == 0 && counts.without_samples > 0 => {
            HeadLine { class: "warn", head: "Not judged:", text: told }
        }
        0 => HeadLine { class: "good", head: "Passed:", text: told },
        99 if !failed.is_empty() => HeadLine { class: "bad", head: "Failed:", text: told },
        code => HeadLine { class: "bad", head: "Failed:", text: format!("{reason} (exit code {code}); {told}") },
    })
}

/// The Trend that tells whether it was slow: what users wait for.
pub(super) fn main_trend(document: &Document) -> Option<(&Metric, &'static str)> {
    let named = [
        ("message_delay", "messages"),
        ("http_req_duration", "requests"),
        ("grpc_req_duration", "calls"),
        ("ws_connecting", "connections"),
        ("iteration_duration", "iterations"),
    ];
    let mut known = named.iter().filter_map(|(name, of)| Some((document.metric(name)?, *of)));
    let has_samples = |(metric, _): &(&Metric, &str)| {
        metric.histogram().is_some_and(|h| h.count > 0) && !was_never_answered(&metric.result())
    };
    known.find(has_samples)
}

fn speed(run: &ShownRun<'_>) -> Option<HeadLine> {
    let (metric, of) = main_trend(run.document)?;
    let trend = metric.histogram()?.trend();
    let (median, p95) = (trend.percentile(50.0), trend.percentile(95.0));
    let mut text = format!("half of the {of} took at most {}, 95 % at most {}", run.time(median), run.time(p95));
    let seconds = run.intervals.trend(metric).p95;
    let usual = stats::median(seconds.iter().flatten().copied()).unwrap_or(f64::INFINITY);
    let enough = seconds.iter().flatten().count() > 2;
    if let Some((at, worst)) = highest(&seconds).filter(|(_, worst)| enough && is_finding(run.document, *worst, usual))
    {
        let (when, worst) = (when(&run.intervals, at), run.time(worst));
        let _ = write!(text, "; slowest at {when}: p95 {worst}, usually {}", run.time(usual));
    }
    if let Some((request, p95)) = requests::slowest(run).filter(|_| metric.name == "http_req_duration") {
        let _ = write!(text, "; slowest request: {request}, p95 {}", run.time(p95));
    }
    Some(HeadLine { class: "", head: "Speed:", text })
}

/// A second that was so many times as slow as usual is no noise, however steady the rest is.
const SLOW: f64 = 3.0;

/// Whether the slowest second is more than the noise of a steady run, one of whose seconds is always the slowest.
fn is_finding(document: &Document, worst: f64, usual: f64) -> bool {
    let has_changed = |found: &Steadiness| found.stretches.len() > 1 || found.drift.is_some();
    worst >= SLOW * usual || document.steadiness.as_ref().is_none_or(has_changed)
}

/// Warm-up, changes and drift, or that there were none.
fn steady(run: &ShownRun<'_>) -> Option<HeadLine> {
    let found = run.document.steadiness.as_ref()?;
    let lines = steadiness::lines(found, run.options.time_unit);
    if let (true, Some(only)) = (lines.is_empty(), found.stretches.first()) {
        let (from, to) = (clock_text(only.from_s.floor(), only.to_s), clock_text(only.to_s.floor(), only.to_s));
        let text = format!("nothing changed from {from} to {to}, while the plan asked for the same load");
        return Some(HeadLine { class: "good", head: "Steady:", text });
    }
    let head = if found.steady.is_some() && found.drift.is_none() { "Steady in part:" } else { "Not steady:" };
    Some(HeadLine { class: "warn", head, text: lines.join("; ") })
}

/// Iterations that threw, answers from 400 on, requests without an answer. Kinds are named in the table below.
fn errors(document: &Document) -> Option<HeadLine> {
    let named = errors_named(document);
    (!named.is_empty()).then(|| HeadLine { class: "bad", head: "Errors:", text: named.join("; ") })
}

fn errors_named(document: &Document) -> Vec<String> {
    let errors = &document.errors;
    let count = |name: &str| match document.metric(name).map(|metric| &metric.value) {
        Some(Value::Counter { count, .. }) => *count as u64,
        _ => 0,
    };
    let mut named = Vec::new();
    if errors.threw() > 0 {
        named.push(format!("{} of {} iterations threw", errors.threw(), count("iterations")));
    }
    if errors.unexpected_answers() > 0 {
        let most = errors.answers.iter().find(|answer| !answer.expected);
        let example = most.and_then(|answer| answer.seen.example.as_deref());
        let example = example.map(|url| format!(", for example {url}")).unwrap_or_default();
        named.push(format!("answers from 400 on: {}{example}", errors.named_statuses(false)));
    }
    if errors.without_answer() > 0 {
        named.push(format!("{} of {} requests got no answer", errors.without_answer(), count("http_reqs")));
    }
    named
}

fn failures(run: &ShownRun<'_>) -> Option<HeadLine> {
    let metric = run.document.metric("http_req_failed")?;
    let Value::Rate { passes, total } = metric.value else { return None };
    if total == 0 {
        return None;
    }
    if passes == 0 {
        return Some(HeadLine { class: "good", head: "Failures:", text: format!("none of {total} requests failed") });
    }
    let mut text = format!("{} of the requests failed ({passes} of {total})", show::share(passes, total));
    let seconds = run.intervals.share_rate(metric, true);
    if let Some((at, _)) = highest(&seconds).filter(|_| seconds.len() > 2) {
        let first = seconds.iter().position(|rate| rate.is_some_and(|rate| rate > 0.0)).unwrap_or(at);
        let _ = write!(text, "; the first at {}, most at {}", when(&run.intervals, first), when(&run.intervals, at));
    }
    // Whoever set a threshold on failures has said how many are too many.
    let allowed = !metric.thresholds.is_empty() && metric.thresholds.iter().all(|threshold| threshold.ok);
    Some(HeadLine { class: if allowed { "warn" } else { "bad" }, head: "Failures:", text })
}

/// Whether the generator measured what it was meant to. Results that were judged have a verdict, older ones only what
/// their generator noticed.
fn limit(document: &Document) -> Option<HeadLine> {
    let limit = document.generator.judgement.as_ref()?.limit.as_ref()?;
    Some(HeadLine { class: "plain", head: "Limit:", text: limit.line() })
}

/// How far response times are from the truth.
fn timing_error(document: &Document) -> Option<HeadLine> {
    let text = document.generator.judgement.as_ref()?.timing_line()?;
    Some(HeadLine { class: "plain", head: "Timing:", text })
}

/// Figures that the run knows from one side.
fn one_sided(document: &Document) -> Option<HeadLine> {
    let all = &document.generator.judgement.as_ref()?.one_sided;
    let lines: Vec<String> = all.iter().map(OneSided::sentence).collect();
    (!lines.is_empty()).then(|| HeadLine { class: "warn", head: "One side:", text: lines.join("; ") })
}

/// What was changed of it; nothing where it followed its plan.
fn load(document: &Document) -> Option<HeadLine> {
    let lines = change_lines(&document.load_changes);
    (!lines.is_empty()).then(|| HeadLine { class: "plain", head: "Load:", text: lines.join("; ") })
}

fn trust(document: &Document) -> Option<HeadLine> {
    let generator = &document.generator;
    if let Some(judgement) = &generator.judgement
        && judgement.verdict != Trust::NotJudged
    {
        return Some(verdict(document, judgement));
    }
    let busiest = generator.workers.iter().map(|w| w.cpu_share).fold(0.0, f64::max);
    let late = generator.workers.iter().map(|w| w.lag_p99_ms).fold(0.0, f64::max);
    let mut doubts = match generator.accepted() {
        Some(accepted) => vec![accepted],
        None => generator.complaint.iter().chain(&generator.advice).cloned().collect(),
    };
    if generator.dropped_iterations > 0 {
        let text =
            "planned iterations never started, because no virtual user was free: the load was lower than planned";
        doubts.push(format!("{} {text}", generator.dropped_iterations));
    }
    if let Some(steal) = document.environment.notable_steal() {
        doubts.push(format!("{} of the machine's CPU time went to others on its host", show::fraction(steal)));
    }
    if let Some(times) = document.environment.throttled.filter(|times| *times > 0) {
        doubts.push(format!("the CPU limit of its control group held the generator up {times} times"));
    }
    doubts.extend(generator.notes.iter().cloned());
    if generator.too_short {
        doubts
            .insert(0, "not judged: the scenarios ran for less than a second, which is mostly starting up".to_owned());
    }
    if doubts.is_empty() {
        let text = format!(
            "the generator was on time: its busiest worker used {} of a core and was at most {} late (p99)",
            show::percent(busiest, 0),
            show::time(late)
        );
        return Some(HeadLine { class: "good", head: "Generator:", text });
    }
    let class = match generator.limit() {
        Some(_) => "bad",
        None if generator.too_short && doubts.len() == 1 => "",
        None => "warn",
    };
    Some(HeadLine { class, head: "Generator:", text: doubts.join("; ") })
}

/// The verdict with its causes, each with what helps.
fn verdict(document: &Document, judgement: &Judgement) -> HeadLine {
    let generator = &document.generator;
    let accepted = generator.accepted().is_some();
    let (class, head) = match judgement.verdict {
        Trust::Invalid if !accepted => ("bad", "INVALID:"),
        Trust::Invalid => ("warn", "INVALID, accepted:"),
        Trust::Suspect => ("warn", "SUSPECT:"),
        Trust::Trusted | Trust::NotJudged => ("good", "TRUSTED:"),
    };
    let cause = |found: &Finding| match found.advice.is_empty() {
        true => format!("{}: {}", found.title, found.text),
        false => format!("{}: {}; {}", found.title, found.text, found.advice),
    };
    let mut texts: Vec<String> = generator.accepted().into_iter().chain(judgement.doubts().map(cause)).collect();
    if judgement.doubts().next().is_none() {
        texts.push(judgement.basis.clone());
    }
    texts.extend(judgement.iterations.line());
    texts.extend(generator.notes.iter().cloned());
    HeadLine { class, head, text: texts.join("; ") }
}

/// The most important figures.
fn tiles(run: &ShownRun<'_>) -> String {
    let document = run.document;
    let mut tiles: Vec<(&str, String)> = Vec::new();
    let counters = [
        ("http_reqs", "requests"),
        ("ws_msgs_sent", "messages sent"),
        ("ws_msgs_received", "messages received"),
        ("iterations", "iterations"),
    ];
    for (name, title) in counters {
        if let Some(Value::Counter { count, rate }) = document.metric(name).map(|metric| &metric.value)
            && *count > 0.0
        {
            let count = show::grouped(count.round() as u64);
            tiles.push((title, format!("{count} <small>{}/s</small>", show::rounded(*rate))));
        }
    }
    if let Some((metric, _)) = main_trend(document)
        && let Some(trend) = metric.histogram().map(crate::document::Histogram::trend)
    {
        for (title, percent) in [("median", 50.0), ("95th percentile", 95.0), ("99th percentile", 99.0)] {
            tiles.push((title, plain(&run.time(trend.percentile(percent)))));
        }
        tiles.push(("slowest", plain(&run.time(trend.max()))));
    }
    if let Some(Value::Rate { passes, total }) = document.metric("checks").map(|metric| &metric.value) {
        tiles.push(("checks passed", plain(&show::share(*passes, *total))));
    }
    if let Some(Value::Gauge { max, .. }) = document.metric("vus").map(|metric| &metric.value) {
        tiles.push(("virtual users", show::number(*max)));
    }
    let items = tiles.iter().map(|(title, value)| format!("<li><span>{title}</span><b>{value}</b></li>"));
    format!("<ul class=\"tiles\">{}</ul>", items.collect::<String>())
}

fn highest(values: &[Option<f64>]) -> Option<(usize, f64)> {
    let known = values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn when(intervals: &Intervals<'_>, at: usize) -> String {
    clock_text(intervals.times[at].0.floor(), intervals.times.last().map_or(0.0, |(_, end)| *end))
}
