//! The document of `onrush serve --witness` (docs/schema/witness-1.json): written when the server ends, read by `onrush
//! witness`.
//!
//! What is read may come from anywhere: kind, schema and histograms are checked before anybody reckons with them.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Histogram;
use crate::input;

/// What `kind` says.
pub const KIND: &str = "onrush-witness";
/// Number of the schema.
pub const SCHEMA: u32 = 1;

/// What a target saw from its start to its end. Times in seconds count from its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessDocument {
    /// `onrush-witness`, so that a file can be told from others.
    pub kind: String,
    /// Number of this schema: 1.
    pub schema: u32,
    /// Version of Onrush.
    pub onrush: String,
    /// When the target began: RFC 3339 in UTC.
    pub started_at: String,
    /// How long it served, in seconds.
    pub time_s: f64,
    /// By how much the wall clock was set meanwhile: arrivals and answers are told by it.
    pub clock_step_ms: f64,
    /// Whether it listened with TLS: bytes are those before encryption.
    pub has_tls: bool,
    /// Threads that served.
    pub workers: usize,
    /// When the first request arrived.
    pub first_arrival_s: f64,
    /// When the last one did.
    pub last_arrival_s: f64,
    /// When the last answer left.
    pub last_answer_s: f64,
    /// Connections of all clients.
    pub connections: SeenConnections,
    /// Requests, without those to `/stats`.
    pub requests: SeenRequests,
    /// Bytes of all connections.
    pub bytes: SeenBytes,
    /// From a request's arrival to right before its answer's last write: a client waits for longer.
    pub service_ms: Histogram,
    /// From the answer before a request to the arrival of the request behind it on the same connection of HTTP/1.1: a
    /// client that sends one request at a time waits for less. Those without such neighbours are `censored`.
    pub turnaround_ms: Histogram,
    /// From one arrival to the next; null with several workers, each of which knows its own alone.
    pub gap_ms: Option<Histogram>,
    /// The longest times in which requests waited and none was answered.
    pub stalls: Vec<Stall>,
    /// The longest times in which none waited and none came.
    pub quiet: Vec<Quiet>,
    /// Stalls and quiet times begin and end within this of what is said.
    pub resolution_s: f64,
    /// Counts over time.
    pub series: SeenSeries,
}

/// How many requests there were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenRequests {
    /// Whose head arrived.
    pub arrived: u64,
    /// Those among them that the kernel stamped.
    pub stamped: u64,
    /// That got a response.
    pub answered: u64,
    /// That got something else, because their route misbehaves on purpose.
    pub faults: u64,
    /// That got none, because their connection or stream ended.
    pub abandoned: u64,
    /// Those among them earlier than half a second before the last answer: not cut off by the end of the load.
    pub abandoned_under_way: u64,
    /// Most of them that waited at once.
    pub most_waiting: u64,
    /// Answers by their status.
    pub statuses: BTreeMap<String, u64>,
}

impl SeenRequests {
    pub(super) fn add(&mut self, other: &SeenRequests) {
        self.arrived += other.arrived;
        self.stamped += other.stamped;
        self.answered += other.answered;
        self.faults += other.faults;
        self.abandoned += other.abandoned;
        self.most_waiting += other.most_waiting;
    }

    /// Answers with a status between these.
    pub fn with_status(&self, from: u16, to: u16) -> u64 {
        let within = |status: &str| status.parse::<u16>().is_ok_and(|status| (from..=to).contains(&status));
        self.statuses.iter().filter(|(status, _)| within(status)).map(|(_, count)| count).sum()
    }
}

/// Bytes, counted; on TLS those before encryption.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenBytes {
    /// Received from all clients.
    pub received: u64,
    /// Sent to all clients.
    pub sent: u64,
    /// Of them bodies of requests.
    pub bodies_received: u64,
    /// Of those sent, bodies of responses whose heads say their length.
    pub bodies_sent: u64,
    /// Responses whose heads do not.
    pub bodies_unknown: u64,
}

impl SeenBytes {
    pub(super) fn add(&mut self, other: &SeenBytes) {
        self.received += other.received;
        self.sent += other.sent;
        self.bodies_sent += other.bodies_sent;
        self.bodies_unknown += other.bodies_unknown;
    }
}

/// Connections, counted, and a row for each of the first hundred.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenConnections {
    /// That were accepted.
    pub opened: u64,
    /// Most of them at once.
    pub most_open: u64,
    /// How many requests each had.
    pub requests: Histogram,
    /// The first hundred.
    pub rows: Vec<SeenConnection>,
}

/// What passed on a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenConnection {
    /// When it was accepted.
    pub opened_s: f64,
    /// When it ended.
    pub closed_s: f64,
    /// Requests that arrived on it.
    pub requests: u64,
    /// Bytes that were received.
    pub received: u64,
    /// Bytes that were sent.
    pub sent: u64,
    /// The longest time that an answer took.
    pub slowest_ms: f64,
}

/// A time in which requests waited and none was answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// When it began.
    pub from_s: f64,
    /// How long it was.
    pub length_s: f64,
    /// Requests that waited in it.
    pub waiting: u64,
    /// Requests that arrived in it.
    pub arrivals: u64,
    /// Requests that would have, at the pace outside of stalls.
    pub expected: u64,
}

/// A time in which the load paused by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quiet {
    /// When it began.
    pub from_s: f64,
    /// How long it was.
    pub length_s: f64,
}

/// Counts over time, a number for each step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenSeries {
    /// Length of a step.
    pub step_s: f64,
    /// Requests that arrived.
    pub arrivals: Vec<u64>,
    /// Answers that left.
    pub answers: Vec<u64>,
    /// Requests that lost their answer.
    pub abandoned: Vec<u64>,
    /// The longest time of an answer that left.
    pub slowest_ms: Vec<f64>,
}

impl WitnessDocument {
    /// From the first arrival to the last answer.
    pub fn span_s(&self) -> f64 {
        (self.last_answer_s - self.first_arrival_s).max(0.0)
    }
}

/// The first fields of a document of any kind.
#[derive(Deserialize)]
struct WitnessHead {
    kind: Option<String>,
    schema: Option<u32>,
}

/// Reads what `onrush serve --witness` wrote. The error names the file, what was found and what was expected.
pub fn read(path: &Path) -> Result<WitnessDocument, String> {
    let shown = path.display();
    let text = input::text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    parse(&text).map_err(|problem| format!("{shown}: {problem}"))
}

pub(crate) fn parse(text: &str) -> Result<WitnessDocument, String> {
    let expected = "expected the file of onrush serve --witness";
    let head: WitnessHead =
        serde_json::from_str(text).map_err(|error| format!("found no JSON ({error}), {expected}"))?;
    match (head.kind.as_deref(), head.schema) {
        (Some(KIND), Some(SCHEMA)) => {}
        (Some(KIND), schema) => {
            let found = schema.map_or(String::from("none"), |schema| schema.to_string());
            return Err(format!("found schema {found}, expected {SCHEMA}: another version of Onrush wrote it"));
        }
        (kind, _) => return Err(format!("found the kind {}, {expected}", kind.unwrap_or("none"))),
    }
    let document: WitnessDocument = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let histograms = [&document.service_ms, &document.turnaround_ms, &document.connections.requests];
    if histograms.into_iter().chain(&document.gap_ms).any(|histogram| histogram.checked_trend().is_none()) {
        return Err(String::from("the buckets of a histogram do not agree with its count, sum, min and max"));
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_witness_is_named() {
        for (text, expected) in [
            (
                "Running 10s test",
                "found no JSON (expected value at line 1 column 1), expected the file of onrush serve --witness",
            ),
            ("{}", "found the kind none, expected the file of onrush serve --witness"),
            (
                r#"{"kind":"onrush-result","schema":2}"#,
                "found the kind onrush-result, expected the file of onrush serve --witness",
            ),
            (
                r#"{"kind":"onrush-witness","schema":9}"#,
                "found schema 9, expected 1: another version of Onrush wrote it",
            ),
        ] {
            assert_eq!(parse(text).expect_err("refused"), expected);
        }
    }

    #[test]
    fn a_document_reads_back() {
        let document = WitnessDocument { kind: KIND.into(), schema: SCHEMA, ..WitnessDocument::default() };
        let text = serde_json::to_string(&document).expect("JSON");
        assert_eq!(parse(&text), Ok(document));
    }
}
