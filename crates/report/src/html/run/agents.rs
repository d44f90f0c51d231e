//! The agents of a fleet beside each other: whether one machine differed.

use units::show;

use super::shown_run::{ShownRun, plain};
use super::tables::titled;
use crate::document::{AgentFigures, AgentTrend};
use crate::format;
use crate::html::Table;
use crate::html::table::CellText;

/// From so many agents on it can be said that one differs.
const FEWEST: usize = 3;
/// A median that is so many times that of the others differs, where there are enough samples.
const MUCH: f64 = 1.5;
const ENOUGH: u64 = 100;

/// Nothing where one process did everything.
pub(super) fn section(run: &ShownRun<'_>) -> Vec<String> {
    let agents = &run.document.generator.agents;
    if agents.is_empty() {
        return Vec::new();
    }
    let metrics = metrics(agents);
    let words: Vec<String> = metrics.iter().filter_map(|metric| differing(run, agents, metric)).collect();
    let words = words.iter().map(|words| format!("<p class=\"about\"><span>{}</span></p>", plain(words)));
    let mut pieces = vec![words.collect(), table(agents)];
    pieces.extend(metrics.iter().map(|metric| titled(metric, trends(run, agents, metric))));
    pieces
}

fn name(agent: &AgentFigures) -> String {
    format!("{} · {}", agent.index, agent.name)
}

fn table(agents: &[AgentFigures]) -> String {
    let is_messaging = agents.iter().filter_map(|agent| agent.load.as_ref()).any(|load| load.ws_messages > 0);
    let messages = is_messaging.then_some("messages received");
    let head = ["agent", "requests", "per second", "failed", "iterations"].into_iter().chain(messages);
    let head: Vec<&str> = head.chain(["cores", "began late", "clock within", "lost"]).collect();
    let mut table = Table::new(head.iter().copied()).text_at(head.len() - 1).named("Agents");
    let unknown = || String::from("unknown");
    for agent in agents {
        let of_load = match &agent.load {
            None => vec![unknown(); if is_messaging { 5 } else { 4 }],
            Some(load) => [
                Some(show::grouped(load.requests)),
                Some(show::rounded(load.requests_per_s)),
                Some(show::grouped(load.failed_requests)),
                Some(show::grouped(load.iterations)),
                is_messaging.then(|| show::grouped(load.ws_messages)),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        let cores = match agent.allowed_cores {
            Some(allowed) => format!("{:.2} of {allowed}", agent.process_cores),
            None => format!("{:.2}", agent.process_cores),
        };
        let time = |ms: Option<f64>| ms.map_or_else(unknown, show::time);
        let lost = agent.lost.clone().unwrap_or_default();
        let rest = [cores, time(agent.start_late_ms), time(agent.clock_bound_ms), lost];
        let class = if agent.lost.is_some() { "bad" } else { "" };
        table.row_of(class, std::iter::once(name(agent)).chain(of_load).chain(rest).map(CellText::from));
    }
    table.html()
}

/// Trends that any agent has, in the order of the first that has them.
fn metrics(agents: &[AgentFigures]) -> Vec<String> {
    let mut metrics: Vec<String> = Vec::new();
    for trend in agents.iter().filter_map(|agent| agent.load.as_ref()).flat_map(|load| &load.trends) {
        if !metrics.contains(&trend.metric) {
            metrics.push(trend.metric.clone());
        }
    }
    metrics
}

fn of<'a>(agents: &'a [AgentFigures], metric: &'a str) -> impl Iterator<Item = (&'a AgentFigures, &'a AgentTrend)> {
    agents.iter().filter_map(move |agent| Some((agent, agent.load.as_ref()?.trend(metric)?)))
}

fn value(run: &ShownRun<'_>, trend: &AgentTrend, value: f64) -> String {
    format::value(value, trend.contains.into(), run.options.time_unit)
}

fn trends(run: &ShownRun<'_>, agents: &[AgentFigures], metric: &str) -> String {
    let caption = format!("{metric} by agent");
    let mut table = Table::new(["agent", "samples", "avg", "p(50)", "p(95)", "p(99)", "max"]).named(&caption);
    for (agent, trend) in of(agents, metric) {
        let values = [trend.avg, trend.p50, trend.p95, trend.p99, trend.max];
        let values = values.map(|known| known.map_or_else(|| String::from("none"), |known| value(run, trend, known)));
        table.row([name(agent), show::grouped(trend.count)].into_iter().chain(values));
    }
    table.html()
}

/// The agent whose median is furthest above those of the others, if it is far.
fn differing(run: &ShownRun<'_>, agents: &[AgentFigures], metric: &str) -> Option<String> {
    let known = || of(agents, metric).filter(|(_, trend)| trend.count >= ENOUGH);
    let mut medians: Vec<f64> = known().filter_map(|(_, trend)| trend.p50).collect();
    medians.sort_by(f64::total_cmp);
    let usual = *medians.get(medians.len() / 2).filter(|_| medians.len() >= FEWEST)?;
    let (agent, trend) = known().max_by(|(_, a), (_, b)| a.p50.unwrap_or(0.0).total_cmp(&b.p50.unwrap_or(0.0)))?;
    let own = trend.p50.filter(|own| usual > 0.0 && *own >= MUCH * usual)?;
    let (factor, own, usual) = (own / usual, value(run, trend, own), value(run, trend, usual));
    Some(format!(
        "agent {} differs: its median of {metric} is {own}, {factor:.1} × that of all agents, {usual}",
        name(agent)
    ))
}
