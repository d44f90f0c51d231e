//! The tables of a report: checks, every metric, the generator, the machine, the options.
//!
//! Values are printed by the summary's own formats, so that a number in a terminal and the one in a report are the same
//! text.

use std::fmt::Write;

use metrics::results::{TrendValue, Value as Measured};
use units::show;

use super::shown_run::{ShownRun, facts, plain};
use crate::document::{Check, Group, Metric, PercentileFigure, Scenario, Value};
use crate::html::table::CellText;
use crate::html::{Table, Text};
use crate::options::TrendStat;
use crate::section::Section;
use crate::text::was_never_answered;

/// All metrics.
pub(super) fn summary(run: &ShownRun<'_>) -> Vec<String> {
    let mut pieces = vec![titled("Steadiness", steadiness(run))];
    pieces.extend(by_section(run, &run.document.metrics));
    pieces
}

fn by_section(run: &ShownRun<'_>, metrics: &[Metric]) -> Vec<String> {
    let piece = |section: &Section| {
        let own: Vec<&Metric> = metrics.iter().filter(|metric| Section::of(&metric.name) == Some(*section)).collect();
        titled(&heading(*section), [trends(run, &own), others(run, &own)].concat())
    };
    Section::ALL.iter().map(piece).collect()
}

/// The metrics of one scenario.
pub(super) fn scenario(run: &ShownRun<'_>, scenario: &Scenario) -> Vec<String> {
    let mut table = check_table();
    scenario.checks.iter().for_each(|check| check_row(&mut table, check, ""));
    let mut pieces = vec![titled("Checks", table.html())];
    pieces.extend(by_section(run, &scenario.metrics));
    pieces
}

fn heading(section: Section) -> String {
    match section {
        Section::Custom => "Metrics of the script".to_owned(),
        Section::Http => "HTTP".to_owned(),
        Section::WebSocket => "WebSocket".to_owned(),
        Section::Grpc => "gRPC".to_owned(),
        other => {
            let title = other.title().replace('_', " ").to_lowercase();
            title[..1].to_uppercase() + &title[1..]
        }
    }
}

pub(super) fn titled(title: &str, html: String) -> String {
    if html.is_empty() { html } else { format!("<h3 class=\"of\">{}</h3>\n{html}", Text(title)) }
}

const CHECK_COLUMNS: [&str; 5] = ["", "check", "passed", "failed", "share passed"];

/// Every check, with its group.
pub(super) fn checks(run: &ShownRun<'_>) -> String {
    let mut table = check_table();
    fill_checks(&mut table, &run.document.groups, "");
    table.html()
}

fn check_table() -> Table {
    Table::new(CHECK_COLUMNS).texts(2).told_by(1).named("Checks")
}

fn fill_checks(table: &mut Table, group: &Group, path: &str) {
    group.checks.iter().for_each(|check| check_row(table, check, path));
    for inner in &group.groups {
        fill_checks(table, inner, &format!("{path}{} › ", inner.name));
    }
}

fn check_row(table: &mut Table, check: &Check, path: &str) {
    let (class, mark) = if check.fails == 0 { ("good", "✓") } else { ("bad", "✗") };
    let share = show::share(check.passes, check.passes.saturating_add(check.fails));
    let counts = [check.passes.to_string(), check.fails.to_string(), share];
    table.row_of(class, [mark.to_owned(), format!("{path}{}", check.name)].into_iter().chain(counts));
}

/// The stretches between changes, and what was measured in the steady one.
fn steadiness(run: &ShownRun<'_>) -> String {
    let Some(found) = run.document.steadiness.as_ref().filter(|found| found.stretches.len() > 1) else {
        return String::new();
    };
    let times = |from: f64, to: f64| format!("{from:.0} s to {to:.0} s");
    let mut table = Table::new(["stretch", "median of its seconds' medians", "per second"]).texts(1).named("Stretches");
    for (at, stretch) in found.stretches.iter().enumerate() {
        let class = if found.steady == Some(at) { "strong" } else { "" };
        let med = run.time(stretch.med);
        table.row_of(class, [times(stretch.from_s, stretch.to_s), med, show::rounded(stretch.per_second)]);
    }
    let Some(figures) = &found.figures else { return table.html() };
    let percents: Vec<String> = figures.percentiles.iter().map(|figure| format!("p({})", figure.percent)).collect();
    let heads = ["metric", "samples", "per second", "avg"].into_iter().chain(percents.iter().map(String::as_str));
    let mut own = Table::new(heads.chain(["max"])).named("The steady stretch");
    let value = |figure: &PercentileFigure| {
        let interval = figure.interval(|end| run.time(end));
        let shown = plain(&run.time(figure.value.unwrap_or(f64::INFINITY)));
        CellText::html(format!("{shown}<small class=\"sure\">{}</small>", plain(&interval)))
    };
    let named = format!("{}, {} alone", found.metric, times(figures.from_s, figures.to_s));
    let rate = show::rounded(figures.per_second);
    let first = [named, show::grouped(figures.samples), rate, run.time(figures.avg)].map(CellText::from);
    let cells = first.into_iter().chain(figures.percentiles.iter().map(value));
    own.row(cells.chain([CellText::from(run.time(figures.max))]));
    format!("{}{}", table.html(), own.html())
}

fn name(metric: &Metric) -> (&'static str, String) {
    match &metric.filter {
        Some(filter) => ("sub", format!("{{ {} }}", filter.trim())),
        None => ("", metric.name.clone()),
    }
}

/// The summary's columns, and those that do not fit.
fn trends(run: &ShownRun<'_>, metrics: &[&Metric]) -> String {
    let mut stats = run.options.trend_stats.clone();
    if !stats.iter().any(|stat| matches!(stat, TrendStat::Percentile { percent, .. } if *percent == 99.0)) {
        stats.push(TrendStat::Percentile { label: "p(99)".to_owned(), percent: 99.0 });
    }
    if !stats.contains(&TrendStat::Count) {
        stats.push(TrendStat::Count);
    }
    let mut table =
        Table::new(std::iter::once("metric").chain(stats.iter().map(TrendStat::label))).named("Distributions");
    for metric in metrics {
        let Measured::Trend(trend) = metric.result().value else { continue };
        let (class, name) = name(metric);
        let cells = stats.iter().map(|stat| cell(run, metric, &trend, stat));
        table.row_of(class, std::iter::once(CellText::from(name)).chain(cells));
    }
    table.html()
}

fn cell(run: &ShownRun<'_>, metric: &Metric, trend: &TrendValue, stat: &TrendStat) -> CellText {
    let value = stat.of(trend);
    let percentile = || PercentileFigure::of(trend, stat.percent()?);
    match stat {
        TrendStat::Count => show::number(value).into(),
        _ if was_never_answered(&metric.result()) => "none".into(),
        _ => match percentile() {
            Some(figure) => sure(run, metric, &run.show(metric, value), &figure),
            None => run.show(metric, value).into(),
        },
    }
}

/// A percentile with how sure it is below it.
fn sure(run: &ShownRun<'_>, metric: &Metric, value: &str, figure: &PercentileFigure) -> CellText {
    let interval = figure.interval(|end| run.show(metric, end));
    let few = if figure.too_few { " · too few samples" } else { "" };
    let hover = format!("with 95 % the true value lies within {interval}, if samples are independent");
    let (hover, below) = (plain(&hover), plain(&format!("{interval}{few}")));
    CellText::html(format!("<span title=\"{hover}\">{}<small class=\"sure\">{below}</small></span>", plain(value)))
}

fn others(run: &ShownRun<'_>, metrics: &[&Metric]) -> String {
    let mut table = Table::new(["metric", "value", "rate or range"]).texts(1).named("Counts, levels and shares");
    for metric in metrics {
        let (class, name) = name(metric);
        let (value, extra) = match &metric.value {
            Value::Counter { count, rate } => (run.show(metric, *count), format!("{}/s", run.show(metric, *rate))),
            Value::Gauge { value, min, max } => {
                (run.show(metric, *value), format!("min={} max={}", run.show(metric, *min), run.show(metric, *max)))
            }
            Value::Rate { passes, total } => (show::share(*passes, *total), format!("{passes} out of {total}")),
            Value::Trend(_) => continue,
        };
        table.row_of(class, [name, value, extra]);
    }
    table.html()
}

/// Generator, machine, scenarios, options.
pub(super) fn circumstances(run: &ShownRun<'_>) -> Vec<String> {
    vec![
        titled("Scenarios", scenarios(run)),
        titled("Generator", generator(run)),
        titled("Machine", machine(run)),
        titled("Logs of received messages", messages(run)),
        options(run),
    ]
}

fn scenarios(run: &ShownRun<'_>) -> String {
    let mut table = Table::new(["name", "executor", "settings"]).texts(3).named("Scenarios");
    let scenarios = run.document.options["scenarios"].as_object();
    for (name, fields) in scenarios.into_iter().flatten() {
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let executor = text(&fields["executor"]);
        let settings = fields.as_object().into_iter().flatten();
        let settings = settings.filter(|(key, value)| *key != "executor" && !is_nothing(value));
        let settings: Vec<String> = settings.map(|(key, value)| format!("{key}: {}", text(value))).collect();
        let settings = CellText::html(format!("<div class=\"wide\">{}</div>", Text(&settings.join(", "))));
        table.row([CellText::from(name.as_str()), executor.into(), settings]);
    }
    table.html()
}

fn is_nothing(value: &serde_json::Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_str() == Some("")
}

fn generator(run: &ShownRun<'_>) -> String {
    let generator = &run.document.generator;
    let mut table =
        Table::new(["worker", "share of a core", "waited for a core", "late, median", "late, p99", "late, at most"])
            .named("Workers of the generator");
    for (number, worker) in generator.workers.iter().enumerate() {
        let lag = [worker.lag_p50_ms, worker.lag_p99_ms, worker.lag_max_ms].map(show::time);
        let percent = |share: f64| match generator.too_short {
            true => "run too short".to_owned(),
            false => show::percent(share, 1),
        };
        let waited = worker.waited_share.map_or("unknown".to_owned(), percent);
        table.row([format!("worker {number}"), percent(worker.cpu_share), waited].into_iter().chain(lag));
    }
    let used = (!generator.too_short).then(|| format!("the whole process used {:.2} cores", generator.process_cores));
    let target = run.document.generator_seconds.as_ref().and_then(|seconds| seconds.target.as_ref());
    let target = target.and_then(|target| Some(format!("{} used {:.2} cores", target.name, target.mean()?)));
    let used = used.into_iter().chain(target.map(|text| plain(&text)));
    format!("{}{}", table.html(), facts(&used.collect::<Vec<_>>()))
}

fn machine(run: &ShownRun<'_>) -> String {
    let machine = &run.document.environment;
    let known = |value: Option<f64>| value.map_or("unknown".to_owned(), |value| format!("{value:.2}"));
    let cores: Vec<String> = machine.allowed_cores.iter().map(usize::to_string).collect();
    let mut table = Table::new(["fact", "value"]).texts(2).named("Machine");
    table.row(["processor", &machine.cpu_model]);
    table.row(["cores", &format!("{} (allowed: {})", machine.cores, cores.join(", "))]);
    table.row(["memory", &format!("{:.1} GiB", machine.memory_bytes as f64 / f64::from(1 << 30))]);
    table.row(["system", &format!("{}, kernel {}", machine.os, machine.kernel)]);
    let load = format!("{} before, {} after", known(machine.load_average_1m_start), known(machine.load_average_1m_end));
    table.row(["load average", &load]);
    table.row(["CPU time stolen", &machine.steal_share.map_or("unknown".to_owned(), show::fraction)]);
    table.row([
        "held up by a CPU limit",
        &machine.throttled.map_or("no limit known".to_owned(), |n| format!("{n} times")),
    ]);
    table.row(["machine", &machine.machine_id]);
    table.html()
}

fn messages(run: &ShownRun<'_>) -> String {
    let Some(logs) = &run.document.messages else { return String::new() };
    let mut table = Table::new(["files", "written", "left out"]).named("Logs of received messages");
    table.row([logs.files.join(", "), logs.written.to_string(), logs.dropped.to_string()]);
    table.html()
}

fn options(run: &ShownRun<'_>) -> String {
    let mut shown = run.document.options.clone();
    if let Some(options) = shown.as_object_mut() {
        options.retain(|_, value| !is_nothing(value));
    }
    let mut html = String::from("<details><summary>All options that were set</summary>");
    let text = serde_json::to_string_pretty(&shown).unwrap_or_default();
    let _ = write!(html, "<pre tabindex=\"0\">{}</pre></details>", plain(&text));
    html
}
