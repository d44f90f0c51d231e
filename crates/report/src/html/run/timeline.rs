//! One time axis: what was asked of the target, what came back and how fast, and how the generator fared meanwhile.
//!
//! The charts stand below each other, because they share their time: a bad second is a column through all of them.

use super::head::main_trend;
use super::plots::{over_time, percentiles_over_time, rate_before, rate_lines};
use super::shown_run::ShownRun;
use super::{requests, thresholds};
use crate::document::{Column, GeneratorSeconds};
use crate::html::chart::{ChartLine, Unit};

/// The charts.
pub(super) fn section(run: &ShownRun<'_>) -> Vec<String> {
    let mut charts = vec![rates(run), errors(run), durations(run)];
    charts.extend(thresholds::charts(run));
    charts.extend([iterations(run), users(run)]);
    charts.extend(generator(run));
    charts.retain(|chart| !chart.is_empty());
    if charts.is_empty() { charts } else { vec![format!("<div class=\"column\">\n{}\n</div>", charts.join("\n"))] }
}

/// How much was asked of the target, and how much of it failed.
fn rates(run: &ShownRun<'_>) -> String {
    let failed =
        run.document.metric("http_req_failed").map(|m| ChartLine::new("failed", run.intervals.share_rate(m, true)));
    let failed = failed.filter(|line| line.values.iter().flatten().any(|rate| *rate > 0.0));
    let failed = failed.map(|line| ChartLine { colour: Some(4), ..line });
    let requests = rate_lines(run, &[("http_reqs", "requests")]).into_iter().chain(failed);
    let requests = requests.chain(rate_before(run, "http_reqs")).collect();
    let http = over_time(run, "Requests", Unit::PerSecond, requests, true);
    let calls = rate_lines(run, &[("grpc_req_duration", "calls that ended")]);
    let calls = over_time(run, "gRPC calls", Unit::PerSecond, calls, true);
    let messages = rate_lines(run, &[("ws_msgs_received", "received"), ("ws_msgs_sent", "sent")]);
    format!("{http}{calls}{}", over_time(run, "WebSocket messages", Unit::PerSecond, messages, true))
}

/// Errors by kind; where only their sum is known over time, the share that failed.
fn errors(run: &ShownRun<'_>) -> String {
    let by_kind = requests::errors_over_time(run);
    if !by_kind.is_empty() {
        return by_kind;
    }
    let failed = run.document.metric("http_req_failed");
    let Some(failed) = failed.filter(|metric| run.intervals.share(metric).iter().flatten().any(|share| *share > 0.0))
    else {
        return String::new();
    };
    let line = ChartLine { colour: Some(4), ..ChartLine::new("failed", run.intervals.share(failed)) };
    over_time(run, "Share of requests that failed", Unit::Share, vec![line], true)
}

/// What users waited for.
fn durations(run: &ShownRun<'_>) -> String {
    let Some((metric, of)) = main_trend(run.document) else { return String::new() };
    let title = match of {
        "messages" => return String::new(),
        "requests" => "Request duration",
        "calls" => "Call duration",
        "connections" => "Time to connect",
        _ => return String::new(),
    };
    percentiles_over_time(run, metric, title)
}

/// What the plan asked for, and what was done.
fn iterations(run: &ShownRun<'_>) -> String {
    let counted = [("iterations", "completed"), ("dropped_iterations", "dropped"), ("iterations_threw", "threw")];
    let mut lines = rate_lines(run, &counted);
    for (line, colour) in lines.iter_mut().zip([0, 4, 3]) {
        line.colour = Some(colour);
    }
    let planned = of_generator(run, |generator| &generator.planned_per_second, false);
    lines.extend(planned.map(|values| ChartLine { colour: Some(8), ..ChartLine::new("planned", values) }));
    over_time(run, "Iterations, planned and done", Unit::PerSecond, lines, true)
}

fn users(run: &ShownRun<'_>) -> String {
    let users = [("vus", "running an iteration"), ("vus_max", "initialised")];
    let users = users.iter().filter_map(|(name, title)| Some((run.document.metric(name)?, *title)));
    let users = users.map(|(metric, title)| ChartLine::new(title, run.intervals.level(metric))).collect();
    over_time(run, "Virtual users", Unit::Number, users, false)
}

/// Whether a bad second was the generator's, or the target's where that was on the same machine.
fn generator(run: &ShownRun<'_>) -> Vec<String> {
    let line = |name: String, values: Option<Vec<Option<f64>>>| values.map(|values| ChartLine::new(name, values));
    let target = run.document.generator_seconds.as_ref().and_then(|generator| generator.target.as_ref());
    let busy = of_generator(run, |generator| &generator.busiest_share, true);
    let mut cpu: Vec<ChartLine> = match target {
        None => line("its busiest worker, of a core".to_owned(), busy).into_iter().collect(),
        Some(_) => line("generator's busiest worker, of a core".to_owned(), busy).into_iter().collect(),
    };
    cpu.extend(target.and_then(|target| {
        let used = some(run.intervals.of_column(&target.cores, true));
        Some(ChartLine { colour: Some(1), ..line(format!("{}, of a core", target.name), used)? })
    }));
    let late = of_generator(run, |generator| &generator.lag_p99_ms, true);
    let late = line("how late its event loops were, p99".to_owned(), late).into_iter().collect();
    let title = if target.is_some() { "CPU of generator and target" } else { "Generator: CPU" };
    vec![over_time(run, title, Unit::Share, cpu, true), over_time(run, "Generator: lag", Unit::Time, late, false)]
}

/// A column of the generator as points of a chart: the worst of its intervals, or their mean.
fn of_generator(
    run: &ShownRun<'_>,
    of: impl Fn(&GeneratorSeconds) -> &Column,
    is_worst: bool,
) -> Option<Vec<Option<f64>>> {
    let column = of(run.document.generator_seconds.as_ref()?);
    some(run.intervals.of_column(column, is_worst))
}

fn some(values: Vec<Option<f64>>) -> Option<Vec<Option<f64>>> {
    values.iter().any(Option::is_some).then_some(values)
}
