//! The measures that are compared when nobody names any, and those that are only shown.
//!
//! Few on purpose: each further test costs power under Holm. What is judged is what a user of the target notices; bytes
//! and the generator's own CPU are shown without a verdict, because they explain changes and are not changes
//! themselves.

use super::measure::{ComparedValue, Source, Stat, percentiles, requests, usual_direction};
use crate::document::{Contains, Document};
use crate::stats::Direction;

/// Measures that get a verdict.
pub fn judged(documents: &[&Document]) -> Vec<ComparedValue> {
    let has = |name: &str| documents.iter().any(|document| document.metric(name).is_some());
    let http = documents.iter().any(|document| ComparedValue::of(&per_second("http_reqs"), document) > Some(0.0));
    let mut measures = Vec::new();
    if http {
        measures.push(per_second("http_reqs"));
        measures.extend(trend("http_req_duration"));
        measures.push(share("http_req_failed"));
    } else {
        measures.push(per_second("iterations"));
        measures.extend(trend("iteration_duration"));
    }
    if !http && has("ws_msgs_received") {
        measures.push(per_second("ws_msgs_received"));
    }
    if has("message_delay") {
        measures.extend(trend("message_delay"));
    }
    if has("checks") {
        measures.push(share("checks"));
    }
    for name in ["dropped_iterations", "iterations_threw"] {
        if has(name) {
            measures.push(metric(name, Stat::Sum));
        }
    }
    measures
}

/// Measures that are shown beside them.
pub fn shown(documents: &[&Document]) -> Vec<ComparedValue> {
    if !documents.iter().any(|document| requests(document).is_some()) {
        return Vec::new();
    }
    let bytes = ["data_sent", "data_received"].into_iter();
    let there = bytes.filter(|name| documents.iter().any(|document| document.metric(name).is_some()));
    let per_request = there.map(|name| Source::PerRequest(name.to_owned()));
    let sources = std::iter::once(Source::GeneratorCpu).chain(per_request);
    sources.map(|source| ComparedValue { source, direction: Direction::Unknown }).collect()
}

fn per_second(name: &str) -> ComparedValue {
    metric(name, Stat::PerSecond)
}

fn share(name: &str) -> ComparedValue {
    metric(name, Stat::Share)
}

fn trend(name: &str) -> Vec<ComparedValue> {
    percentiles().into_iter().map(|stat| metric(name, stat)).collect()
}

fn metric(name: &str, stat: Stat) -> ComparedValue {
    let direction = usual_direction(name, &stat, Contains::Time);
    ComparedValue { source: Source::Metric { name: name.to_owned(), filter: None, stat }, direction }
}
