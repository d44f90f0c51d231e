//! Which charts a run gets: those of the metrics it has samples of, under the headings a reader looks for.

use super::plots::{over_time, rate_lines, spread, trend_charts, unit_of};
use super::shown_run::{ShownRun, plain};
use super::{delay, requests, tables};
use crate::document::{Contains, Metric, Value};
use crate::html::chart::{Bar, Bars, ChartLine, Unit};
use crate::html::grid;
use crate::section::Section;

/// Headings and what is below each; headings may have nothing below.
pub(super) fn sections(run: &ShownRun<'_>) -> Vec<(String, Vec<String>)> {
    let mut sections = vec![("Message delay".to_owned(), delay::section(run))];
    sections.push(("Response times".to_owned(), vec![grid(&http(run))]));
    sections.push(("Checks".to_owned(), vec![tables::checks(run), grid(&checks(run))]));
    sections.push(("gRPC".to_owned(), grpc(run)));
    sections.push(("WebSocket".to_owned(), websocket(run)));
    sections.push(("Streams of events".to_owned(), streams(run)));
    sections.push(("Network".to_owned(), vec![grid(&network(run))]));
    sections.push(("Iterations".to_owned(), iterations(run)));
    sections.push(("Metrics of the script".to_owned(), custom(run)));
    sections
}

/// How long requests took: spread, tail, and what of it was which phase.
fn http(run: &ShownRun<'_>) -> Vec<String> {
    let document = run.document;
    let Some(durations) = document.metric("http_req_duration") else { return Vec::new() };
    let mut charts: Vec<String> =
        durations.histogram().map(|histogram| spread(durations, histogram, "Request duration")).into_iter().collect();
    charts.push(requests::spectrum(run, durations));
    let phases = [
        ("http_req_blocked", "blocked"),
        ("http_req_connecting", "connecting"),
        ("http_req_tls_handshaking", "TLS handshake"),
        ("http_req_sending", "sending"),
        ("http_req_waiting", "waiting"),
        ("http_req_receiving", "receiving"),
    ];
    let spent = |name: &str| document.metric(name).filter(|metric| metric.histogram().is_some_and(|h| h.max > 0.0));
    let phases: Vec<(&Metric, &str)> = phases.iter().filter_map(|(name, title)| Some((spent(name)?, *title))).collect();
    let lines = phases.iter().map(|(metric, title)| ChartLine::new(*title, run.intervals.trend(metric).avg));
    charts.push(over_time(run, "Phases of a request, mean", Unit::Time, lines.collect(), false));
    charts.push(phase_bars(run, &phases));
    charts
}

/// How much of a request each phase took, over the whole run.
fn phase_bars(run: &ShownRun<'_>, phases: &[(&Metric, &str)]) -> String {
    let bars = phases.iter().enumerate().filter_map(|(colour, (metric, title))| {
        let histogram = metric.histogram()?;
        let trend = histogram.trend();
        let shown = format!("{}, p99 {}", run.time(trend.avg()), run.time(trend.percentile(99.0)));
        Some(Bar { name: (*title).to_owned(), value: trend.avg(), shown, interval: None, colour })
    });
    let note = "mean of all requests; those that found a connection open took no time for the first three";
    Bars { title: "Phases of a request", note: Some(note), bars: bars.collect() }.html()
}

fn grpc(run: &ShownRun<'_>) -> Vec<String> {
    let messages = [("grpc_streams_msgs_received", "received"), ("grpc_streams_msgs_sent", "sent")];
    let messages = over_time(run, "Messages of streams", Unit::PerSecond, rate_lines(run, &messages), true);
    vec![
        grid(&trend_pair(run, "grpc_req_duration", "Call duration")),
        messages,
        grid(&trend_pair(run, "grpc_streams_msg_delay", "Time between messages of a stream")),
    ]
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
    let mut charts = vec![grid(&trend_pair(run, "iteration_duration", "Iteration duration"))];
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
                Some(by_event) => {
                    pairs.extend([format!("<h3 class=\"of\">{}</h3>", plain(name))].into_iter().chain(by_event))
                }
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

fn trend_pair(run: &ShownRun<'_>, name: &str, title: &str) -> Vec<String> {
    run.document.metric(name).map(|metric| trend_charts(run, metric, title)).unwrap_or_default()
}
