//! How long messages were under way, by event and by hop: what `onrush/delay` measured, and Trends of a script's own
//! that are tagged by event.
//!
//! The first row tells of all events together. Where a server adds stamps of its own a second table splits the delay.
//! The chart is the mean of each second, the one that studies of real-time systems print.

use units::show;

use super::plots::{over_time, trend_charts, unit_of};
use super::shown_run::{ShownRun, plain};
use crate::document::{Metric, Value};
use crate::html::chart::{ChartLine, INK};
use crate::html::{Table, grid};

/// Metrics that are shown only here.
pub(super) const METRICS: [&str; 3] = [DELAY, HOP, SENDS];
const DELAY: &str = "message_delay";
const HOP: &str = "message_hop";
const SENDS: &str = "message_sends";
/// Hops in the order a message takes them.
const HOPS: [&str; 3] = ["up", "inside", "down"];
/// Lines of a chart that an eye can follow.
const LINES: usize = 7;

/// Tables and charts; nothing for a run without message delays.
pub(super) fn section(run: &ShownRun<'_>) -> Vec<String> {
    let Some(all) = total(run, DELAY, None) else { return Vec::new() };
    let events = events(run, DELAY);
    let mut pieces = by_event(run, all, &events, "Message delay");
    let note = "from the sender's stamp to the receiver's machine; sends/s is what the server receives, deliveries/s \
        what it sends";
    pieces.insert(1, format!("<p class=\"about\">{}</p>", plain(note)));
    pieces.push(hop_table(run, &events));
    pieces
}

/// The same of a Trend of the script's own; nothing for one that is not tagged by event.
pub(super) fn of_script(run: &ShownRun<'_>, all: &Metric) -> Option<Vec<String>> {
    let events = events(run, &all.name);
    (!events.is_empty() && samples(all) > 0).then(|| by_event(run, all, &events, &all.name))
}

/// Table and charts of a Trend by event.
fn by_event(run: &ShownRun<'_>, all: &Metric, events: &[(&str, &Metric)], title: &str) -> Vec<String> {
    let mut charts = vec![mean_chart(run, all, events, title)];
    charts.extend(trend_charts(run, all, title));
    charts.push(edits_chart(run, events));
    vec![event_table(run, all, events), grid(&charts)]
}

/// All samples of a Trend, or those of one event.
fn total<'a>(run: &ShownRun<'a>, name: &str, event: Option<&str>) -> Option<&'a Metric> {
    let document = run.document;
    let found = match event {
        Some(event) => document.sub_metric(name, &[("event", event)]),
        None => document.metric(name),
    };
    found.filter(|metric| samples(metric) > 0)
}

fn samples(metric: &Metric) -> u64 {
    metric.histogram().map_or(0, |histogram| histogram.count)
}

/// Events that messages were received of, the most frequent first.
fn events<'a>(run: &ShownRun<'a>, name: &str) -> Vec<(&'a str, &'a Metric)> {
    let tagged = run.document.metrics.iter().filter(|metric| metric.name == name);
    let named = tagged.flat_map(|metric| metric.tags()).filter(|(name, _)| *name == "event").map(|(_, event)| event);
    let mut names: Vec<&str> = named.collect();
    names.sort_unstable();
    names.dedup();
    let mut events: Vec<_> =
        names.into_iter().filter_map(|event| Some((event, total(run, name, Some(event))?))).collect();
    events.sort_by_key(|(_, metric)| std::cmp::Reverse(samples(metric)));
    events
}

fn event_table(run: &ShownRun<'_>, all: &Metric, events: &[(&str, &Metric)]) -> String {
    let has_sends = all.name == DELAY;
    let counts = if has_sends { vec!["sends/s", "deliveries/s"] } else { vec!["samples/s"] };
    let figures_of = ["average", "median", "p95", "max"];
    let mut table = Table::new(["event"].into_iter().chain(counts).chain(figures_of)).named("Delays by event");
    let sends = |event: Option<&str>| {
        let found = match event {
            Some(event) => run.document.sub_metric(SENDS, &[("event", event)]),
            None => run.document.metric(SENDS),
        };
        match found.map(|metric| &metric.value) {
            Some(Value::Counter { rate, .. }) => show::rounded(*rate),
            _ => "–".to_owned(),
        }
    };
    let row = |name: &str, event: Option<&str>, metric: &Metric| -> Vec<String> {
        let deliveries = samples(metric) as f64 / run.document.rate_time_s().max(1e-3);
        let counts = has_sends.then(|| sends(event)).into_iter().chain([show::rounded(deliveries)]);
        [name.to_owned()].into_iter().chain(counts).chain(figures(run, metric)).collect()
    };
    table.row_of("strong", row("all events", None, all));
    events.iter().for_each(|(event, metric)| table.row(row(event, Some(event), metric)));
    table.html()
}

/// Average, median, p95, max.
fn figures(run: &ShownRun<'_>, metric: &Metric) -> Vec<String> {
    let Some(trend) = metric.histogram().map(crate::document::Histogram::trend) else { return Vec::new() };
    [trend.avg(), trend.percentile(50.0), trend.percentile(95.0), trend.max()]
        .iter()
        .map(|value| run.show(metric, *value))
        .collect()
}

/// Where the time went, when a server told.
fn hop_table(run: &ShownRun<'_>, events: &[(&str, &Metric)]) -> String {
    let mut table = Table::new(["event", "hop", "average", "median", "p95", "max"]).texts(2).named("Delays by hop");
    for (event, total) in events {
        let hop = |hop: &'static str| {
            let found = run.document.sub_metric(HOP, &[("event", event), ("hop", hop)])?;
            (samples(found) > 0).then_some((hop, found))
        };
        let hops: Vec<_> = HOPS.into_iter().filter_map(hop).collect();
        if hops.is_empty() {
            continue;
        }
        for (at, (hop, metric)) in hops.into_iter().chain([("total", *total)]).enumerate() {
            let name = if at == 0 { (*event).to_owned() } else { String::new() };
            table.row([name, hop.to_owned()].into_iter().chain(figures(run, metric)));
        }
    }
    if table.is_empty() {
        String::new()
    } else {
        format!("<h4>by hop: sender up to the server, inside it, down to the receiver</h4>{}", table.html())
    }
}

fn mean_chart(run: &ShownRun<'_>, all: &Metric, events: &[(&str, &Metric)], title: &str) -> String {
    let every = ChartLine { colour: Some(INK), ..ChartLine::new("all events", run.intervals.trend(all).avg) };
    let each = events.iter().take(LINES).map(|(event, metric)| ChartLine::new(*event, run.intervals.trend(metric).avg));
    let each = each.enumerate().map(|(at, line)| ChartLine { colour: Some(at), ..line });
    let lines = [every].into_iter().chain(each).collect();
    over_time(run, &format!("{title}, mean of each second"), unit_of(all), lines, false)
}

/// The delay of edits alone, which is what people of an editor feel most.
fn edits_chart(run: &ShownRun<'_>, events: &[(&str, &Metric)]) -> String {
    let edits = ["edit", "modify", "edits"].iter().find_map(|name| events.iter().find(|(event, _)| event == name));
    let Some((event, metric)) = edits.filter(|_| events.len() > 1) else { return String::new() };
    let lines = run.intervals.trend(metric);
    let lines = vec![ChartLine::new("mean", lines.avg), ChartLine::new("p95", lines.p95)];
    over_time(run, &format!("Delay of {event} alone"), unit_of(metric), lines, false)
}
