//! Which charts a run gets: those of the metrics it has samples of, under the headings a reader looks for.

use super::delay;
use super::intervals::TrendLines;
use super::shown_run::{ShownRun, plain};
use crate::document::{Contains, Metric, Value};
use crate::html::chart::{ChartLine, Distribution, Lines, Unit};
use crate::html::grid;
use crate::section::Section;

/// Headings and what is below each; headings may have nothing below.
pub(super) fn sections(run: &ShownRun<'_>) -> Vec<(String, Vec<String>)> {
    let mut sections = vec![("Load".to_owned(), vec![grid(&load(run))])];
    sections.push(("Message delay".to_owned(), delay::section(run)));
    sections.push(("HTTP".to_owned(), vec![grid(&http(run))]));
    sections.push(("WebSocket".to_owned(), websocket(run)));
    sections.push(("Streams of events".to_owned(), streams(run)));
    sections.push(("Checks".to_owned(), vec![grid(&checks(run))]));
    sections.push(("Network".to_owned(), vec![grid(&network(run))]));
    sections.push(("Iterations".to_owned(), iterations(run)));
    sections.push(("Metrics of the script".to_owned(), custom(run)));
    sections
}

/// How much was asked of the target.
fn load(run: &ShownRun<'_>) -> Vec<String> {
    let failed =
        run.document.metric("http_req_failed").map(|m| ChartLine::new("failed", run.intervals.share_rate(m, true)));
    let failed = failed.filter(|line| line.values.iter().flatten().any(|rate| *rate > 0.0));
    let failed = failed.map(|line| ChartLine { colour: Some(4), ..line });
    let requests = rate_lines(run, &[("http_reqs", "requests")]).into_iter().chain(failed).collect();
    let messages = rate_lines(run, &[("ws_msgs_received", "received"), ("ws_msgs_sent", "sent")]);
    let users = [("vus", "running an iteration"), ("vus_max", "initialised")];
    let users = users.iter().filter_map(|(name, title)| Some((run.document.metric(name)?, *title)));
    let users = users.map(|(metric, title)| ChartLine::new(title, run.intervals.level(metric))).collect();
    vec![
        over_time(run, "Requests", Unit::PerSecond, requests, true),
        over_time(run, "WebSocket messages", Unit::PerSecond, messages, true),
        over_time(run, "Virtual users", Unit::Number, users, false),
    ]
}

fn http(run: &ShownRun<'_>) -> Vec<String> {
    let document = run.document;
    let mut charts = trend_pair(run, "http_req_duration", "Request duration");
    let phases = [
        ("http_req_blocked", "blocked"),
        ("http_req_connecting", "connecting"),
        ("http_req_tls_handshaking", "TLS handshake"),
        ("http_req_sending", "sending"),
        ("http_req_waiting", "waiting"),
        ("http_req_receiving", "receiving"),
    ];
    let spent = |name: &str| document.metric(name).filter(|metric| metric.histogram().is_some_and(|h| h.max > 0.0));
    let phases =
        phases.iter().filter_map(|(name, title)| Some(ChartLine::new(*title, run.intervals.trend(spent(name)?).avg)));
    charts.push(over_time(run, "Phases of a request, mean", Unit::Time, phases.collect(), false));
    if let Some(failed) =
        document.metric("http_req_failed").filter(|metric| matches!(metric.value, Value::Rate { passes: 1.., .. }))
    {
        let line = ChartLine { colour: Some(4), ..ChartLine::new("failed", run.intervals.share(failed)) };
        charts.push(over_time(run, "Share of requests that failed", Unit::Share, vec![line], true));
    }
    charts
}

fn websocket(run: &ShownRun<'_>) -> Vec<String> {
    let mut charts = vec![over_time(
        run,
        "Attempts to connect",
        Unit::PerSecond,
        rate_lines(run, &[("ws_sessions", "attempts")]),
        true,
    )];
    charts.push(grid(&trend_pair(run, "ws_connecting", "Time to connect")));
    charts.push(grid(&trend_pair(run, "ws_ping", "Ping to pong")));
    charts
}

fn checks(run: &ShownRun<'_>) -> Vec<String> {
    let Some(metric) = run.document.metric("checks") else { return Vec::new() };
    let lines = vec![
        ChartLine { colour: Some(2), ..ChartLine::new("passed", run.intervals.share_rate(metric, true)) },
        ChartLine { colour: Some(4), ..ChartLine::new("failed", run.intervals.share_rate(metric, false)) },
    ];
    vec![over_time(run, "Checks", Unit::PerSecond, lines, true)]
}

fn network(run: &ShownRun<'_>) -> Vec<String> {
    let lines = rate_lines(run, &[("data_received", "received"), ("data_sent", "sent")]);
    vec![over_time(run, "Data", Unit::BytesPerSecond, lines, true)]
}

fn iterations(run: &ShownRun<'_>) -> Vec<String> {
    let counted = [("iterations", "completed"), ("dropped_iterations", "dropped"), ("iterations_threw", "threw")];
    let mut charts = vec![over_time(run, "Iterations", Unit::PerSecond, rate_lines(run, &counted), true)];
    charts.push(grid(&trend_pair(run, "iteration_duration", "Iteration duration")));
    charts.push(grid(&trend_pair(run, "iteration_lag", "Planned to real start")));
    charts.push(grid(&trend_pair(run, "iteration_duration_from_plan", "Planned start to end")));
    charts
}

fn streams(run: &ShownRun<'_>) -> Vec<String> {
    let mut charts =
        vec![over_time(run, "Events", Unit::PerSecond, rate_lines(run, &[("sse_event", "received")]), true)];
    charts.push(grid(&trend_pair(run, "sse_first_event", "Time to the first event")));
    charts.push(grid(&trend_pair(run, "sse_event_gap", "Time between events")));
    charts
}

/// What the script measured itself, without that which has a section of its own.
fn custom(run: &ShownRun<'_>) -> Vec<String> {
    let own = run.document.metrics.iter().filter(|metric| metric.filter.is_none());
    let own = own.filter(|metric| Section::of(&metric.name) == Some(Section::Custom));
    let own = own.filter(|metric| !delay::METRICS.contains(&metric.name.as_str()));
    let (mut pairs, mut charts) = (Vec::new(), Vec::new());
    for metric in own {
        let name = metric.name.as_str();
        match &metric.value {
            Value::Trend(_) => match delay::of_script(run, metric) {
                Some(by_event) => pairs.extend([format!("<h4>{}</h4>", plain(name))].into_iter().chain(by_event)),
                None => pairs.push(grid(&trend_charts(run, metric, name))),
            },
            Value::Counter { .. } => {
                let unit = if metric.contains == Contains::Data { Unit::BytesPerSecond } else { Unit::PerSecond };
                charts.push(over_time(run, name, unit, vec![ChartLine::new(name, run.intervals.rate(metric))], true));
            }
            Value::Gauge { .. } => {
                let line = ChartLine::new(name, run.intervals.level(metric));
                charts.push(over_time(run, name, unit_of(metric), vec![line], false));
            }
            Value::Rate { .. } => {
                let line = ChartLine::new(name, run.intervals.share(metric));
                charts.push(over_time(run, name, Unit::Share, vec![line], false));
            }
        }
    }
    pairs.push(grid(&charts));
    pairs
}

fn rate_lines(run: &ShownRun<'_>, named: &[(&str, &str)]) -> Vec<ChartLine> {
    let known = named.iter().filter_map(|(name, title)| Some((run.document.metric(name)?, *title)));
    known.map(|(metric, title)| ChartLine::new(title, run.intervals.rate(metric))).collect()
}

fn trend_pair(run: &ShownRun<'_>, name: &str, title: &str) -> Vec<String> {
    run.document.metric(name).map(|metric| trend_charts(run, metric, title)).unwrap_or_default()
}

/// Percentiles over time, and the distribution of the whole run.
pub(super) fn trend_charts(run: &ShownRun<'_>, metric: &Metric, title: &str) -> Vec<String> {
    let Some(histogram) = metric.histogram() else { return Vec::new() };
    let TrendLines { p50, p90, p95, p99, max, .. } = run.intervals.trend(metric);
    let lines = [("p50", p50, 0), ("p90", p90, 5), ("p95", p95, 1), ("p99", p99, 4), ("max", max, 7)];
    let lines = lines
        .into_iter()
        .map(|(name, values, colour)| ChartLine { colour: Some(colour), ..ChartLine::new(name, values) });
    let note = run.intervals.note();
    let chart = Lines {
        title: &format!("{title} over time"),
        note: note.as_deref(),
        unit: unit_of(metric),
        times: &run.intervals.times,
        lines: lines.collect(),
        filled: false,
        may_be_logarithmic: true,
        shaded: &run.unsteady,
    };
    let spread = Distribution { title: &format!("{title}, distribution"), unit: unit_of(metric), histogram, colour: 0 };
    vec![chart.html(), spread.html()]
}

pub(super) fn over_time(run: &ShownRun<'_>, title: &str, unit: Unit, lines: Vec<ChartLine>, filled: bool) -> String {
    let note = run.intervals.seconds_per_point().map(|each| format!("each point is {each} seconds"));
    let times = &run.intervals.times;
    let shaded = &run.unsteady;
    Lines { title, note: note.as_deref(), unit, times, lines, filled, may_be_logarithmic: false, shaded }.html()
}

pub(super) fn unit_of(metric: &Metric) -> Unit {
    match metric.contains {
        Contains::Default => Unit::Number,
        Contains::Time => Unit::Time,
        Contains::Data => Unit::Bytes,
    }
}
