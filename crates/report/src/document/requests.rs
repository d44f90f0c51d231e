//! The table of requests in a result document: each kind with its count and durations, and coarse histograms of
//! stretches of the run, from which a report makes its tables anew for a stretch.
//!
//! Rows of HTTP add up to `http_reqs`, those of gRPC to `grpc_req_duration`'s count, those of WebSockets to
//! `ws_sessions`. The blocks are packed as source maps have their mappings: a text a row, in which `;`
//! ends a block. They are within 2.2 %; the rows' own histograms are as exact as any.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::request_blocks::{Coarse, Span};
use metrics::requests::{RequestKind, RequestTable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;
use super::vlq;

/// Requests by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// Those that failed in front, then the most frequent.
    pub rows: Vec<RequestRow>,
    /// Whether there were more kinds than rows. Rows without a name and a method stand for the others, by outcome.
    #[serde(default)]
    pub is_cut: bool,
    /// The same over time; absent where nobody kept it.
    #[serde(default, skip_serializing_if = "RequestBlocks::is_empty")]
    pub blocks: RequestBlocks,
    /// Traces that are worth a look: of the slowest sampled requests, then of those that failed first. Absent where no
    /// request was in a sampled trace, and of a fleet, whose agents log them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<SampledTrace>,
}

/// A request whose trace was sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampledTrace {
    /// Its trace: 32 hexadecimal digits.
    pub trace_id: String,
    /// Method and URL, secrets masked.
    pub request: String,
    /// From its beginning to the end of its last hop.
    pub took_ms: f64,
    /// Whether it is here because it failed.
    pub failed: bool,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestRow {
    /// The name that the script gave, or the URL; empty where kinds were added up.
    pub name: String,
    /// `GET`; `gRPC` for calls, `WS` for attempts to open a WebSocket; empty where kinds were added up.
    pub method: String,
    /// Whose statuses these are; absent for HTTP.
    #[serde(default, skip_serializing_if = "Protocol::is_http")]
    pub protocol: Protocol,
    /// Status of the answer, for gRPC its number, 0 for OK; null without one.
    pub status: Option<u16>,
    /// Why there is no answer; null where there is one.
    pub error: Option<String>,
    /// Whether they count as failed in `http_req_failed`; calls of gRPC with any status but 0, WebSockets with any but
    /// 101.
    pub failed: bool,
    /// Whose iterations made them; empty outside of scenarios.
    pub scenario: String,
    /// In which group, as `::outer::inner`; empty for none.
    pub group: String,
    /// The URL of one of them, where that is not the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// Start of the first second with one, from the start of the scenarios; absent where nobody kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_s: Option<f64>,
    /// End of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_s: Option<f64>,
    /// How long they took, in ms, a WebSocket until it was open; its count is how many there were.
    pub durations: Histogram,
}

/// How something was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP.
    #[default]
    Http,
    /// gRPC or Connect: a call, or a stream of messages.
    Grpc,
    /// A WebSocket, from the attempt to connect until it was open.
    WebSocket,
}

impl Protocol {
    /// Whether it is HTTP.
    pub fn is_http(&self) -> bool {
        *self == Protocol::Http
    }
}

impl From<metrics::Protocol> for Protocol {
    fn from(protocol: metrics::Protocol) -> Protocol {
        match protocol {
            metrics::Protocol::Http => Protocol::Http,
            metrics::Protocol::Grpc => Protocol::Grpc,
            metrics::Protocol::WebSocket => Protocol::WebSocket,
        }
    }
}

/// Coarse histograms of stretches of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestBlocks {
    /// Where each block begins, from the start of the scenarios.
    pub starts_s: Vec<f64>,
    /// How long it is.
    pub lengths_s: Vec<f64>,
    /// Of each row a text: a block after the other, each ended by `;`. A block is pairs of numbers in Base64 VLQ: how
    /// far a bucket is from the one before (the first from 0), and its requests. Bucket n holds durations from
    /// 2^(n/16) ms on; bucket -400 those that took no time.
    pub rows: Vec<String>,
}

impl Requests {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows of a run's table. `began`: when the scenarios started, by the clock of the blocks.
    pub fn new(table: &RequestTable, blocks: Option<&metrics::RequestBlocks>, began: Duration) -> Requests {
        let times = |kind: &RequestKind| blocks.and_then(|blocks| blocks.span_of_request(kind));
        let rows = table.rows.iter().map(|row| {
            let (first_s, last_s) = times(&row.kind).map(|span| since(span, began)).unzip();
            RequestRow { first_s, last_s, durations: Histogram::from(&row.durations), ..RequestRow::from(&row.kind) }
        });
        let (rows, is_cut) = (rows.collect(), table.is_cut);
        let blocks = blocks.map(|blocks| RequestBlocks::new(table, blocks, began)).unwrap_or_default();
        Requests { rows, is_cut, blocks, traces: Vec::new() }
    }

    /// What is wrong with the blocks, when something is.
    pub(super) fn contradiction(&self) -> Option<String> {
        let odd = self.rows.iter().find(|row| row.durations.checked_trend().is_none());
        if let Some(row) = odd {
            return Some(format!("the durations of {} {} contradict themselves", row.method, row.name));
        }
        let RequestBlocks { starts_s, lengths_s, rows } = &self.blocks;
        if starts_s.len() != lengths_s.len() || (!rows.is_empty() && rows.len() != self.rows.len()) {
            return Some(String::from("the blocks of requests are not as many as they say"));
        }
        let unread = |text: &String| !self.blocks.is_empty() && unpacked(text, starts_s.len()).is_none();
        rows.iter().any(unread).then(|| String::from("a block of requests cannot be read"))
    }
}

/// First and last moment in seconds.
pub fn since(span: Span, began: Duration) -> (f64, f64) {
    let at = |time: Duration| seconds(time, began);
    (at(span.first), at(span.last))
}

/// To the tenth of a millisecond, as the intervals of a run; below 0 before the scenarios.
fn seconds(time: Duration, began: Duration) -> f64 {
    ((time.as_secs_f64() - began.as_secs_f64()) * 1e4).round() / 1e4
}

impl From<&RequestKind> for RequestRow {
    fn from(kind: &RequestKind) -> RequestRow {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        RequestRow {
            name: kind.name.to_string(),
            method: kind.method.to_string(),
            protocol: kind.protocol.into(),
            // Each call of gRPC has a status, and 0 is a good one.
            status: (kind.status != 0 || kind.protocol == metrics::Protocol::Grpc).then_some(kind.status),
            error: some(&kind.error),
            failed: kind.failed,
            scenario: kind.scenario.to_string(),
            group: kind.group.to_string(),
            example: kind.example.as_deref().map(str::to_owned),
            ..RequestRow::default()
        }
    }
}

impl RequestRow {
    /// Whether it stands for kinds that were added up.
    pub fn is_other(&self) -> bool {
        self.method.is_empty()
    }

    /// The status in words: `503`, and `OK` for gRPC's 0; none without one.
    pub fn outcome(&self) -> Option<String> {
        Some(match (self.protocol, self.status?) {
            (Protocol::Grpc, 0) => String::from("OK"),
            (_, status) => status.to_string(),
        })
    }

    /// What was asked for: method and name, or what was added up.
    pub fn what(&self) -> String {
        match (self.is_other(), self.protocol) {
            (false, _) => format!("{} {}", self.method, self.name),
            (true, Protocol::Http) => String::from("other requests"),
            (true, Protocol::Grpc) => String::from("other calls of gRPC"),
            (true, Protocol::WebSocket) => String::from("other WebSockets"),
        }
    }

    /// The kind of its failure, where it is one: a status, or why there is no answer.
    pub fn failure(&self) -> Option<String> {
        let text = match (self.protocol, self.status, &self.error) {
            (Protocol::Http, Some(status), _) => format!("status {status}"),
            (Protocol::Http, None, error) => error.clone().unwrap_or_else(|| String::from("no answer")),
            (protocol, status, error) => {
                let method = if protocol == Protocol::Grpc { "gRPC" } else { "WebSocket" };
                match (status, error) {
                    (Some(status), None) => format!("{method}: status {status}"),
                    (Some(status), Some(error)) => format!("{method}: status {status}, {error}"),
                    (None, error) => format!("{method}: {}", error.as_deref().unwrap_or("no answer")),
                }
            }
        };
        self.failed.then_some(text)
    }
}

impl RequestBlocks {
    /// Whether nobody kept any.
    pub fn is_empty(&self) -> bool {
        self.starts_s.is_empty() || self.rows.is_empty()
    }

    fn new(table: &RequestTable, all: &metrics::RequestBlocks, began: Duration) -> RequestBlocks {
        let mut rows = vec![String::new(); table.rows.len()];
        for block in all.blocks() {
            let mut sums: BTreeMap<usize, Coarse> = BTreeMap::new();
            for (kind, coarse) in block.rows() {
                let Some(row) = table.row_of(kind) else { continue };
                add(sums.entry(row).or_default(), coarse);
            }
            sums.iter().for_each(|(row, coarse)| pack(&mut rows[*row], coarse));
            rows.iter_mut().for_each(|text| text.push(';'));
        }
        let starts_s = all.blocks().iter().map(|block| seconds(block.from, began)).collect();
        let lengths_s = all.blocks().iter().map(|block| seconds(block.to, block.from)).collect();
        RequestBlocks { starts_s, lengths_s, rows }
    }

    /// The histograms of a row, block by block; empty where its text cannot be read.
    pub fn row(&self, row: usize) -> Vec<Coarse> {
        self.rows.get(row).and_then(|text| unpacked(text, self.starts_s.len())).unwrap_or_default()
    }

    /// The same in fewer blocks, until all rows together take no more than so many bytes; two blocks at least.
    pub fn within(&self, bytes: usize) -> RequestBlocks {
        let mut blocks = self.clone();
        while blocks.rows.iter().map(String::len).sum::<usize>() > bytes && blocks.starts_s.len() > 3 {
            blocks = blocks.halved();
        }
        blocks
    }

    fn halved(&self) -> RequestBlocks {
        let halve = |row: usize| {
            let mut text = String::new();
            for pair in self.row(row).chunks(2) {
                let mut sum = Coarse::new();
                pair.iter().for_each(|coarse| add(&mut sum, coarse));
                pack(&mut text, &sum);
                text.push(';');
            }
            text
        };
        RequestBlocks {
            starts_s: self.starts_s.iter().step_by(2).copied().collect(),
            lengths_s: self.lengths_s.chunks(2).map(|pair| (pair.iter().sum::<f64>() * 1e4).round() / 1e4).collect(),
            rows: (0..self.rows.len()).map(halve).collect(),
        }
    }
}

fn add(sum: &mut Coarse, more: &Coarse) {
    more.iter().for_each(|(bucket, count)| *sum.entry(*bucket).or_default() += count);
}

fn pack(text: &mut String, coarse: &Coarse) {
    let mut last = 0;
    for (bucket, count) in coarse {
        vlq::push(text, i64::from(bucket - std::mem::replace(&mut last, *bucket)));
        vlq::push(text, i64::try_from(*count).unwrap_or(i64::MAX));
    }
}

fn unpacked(text: &str, blocks: usize) -> Option<Vec<Coarse>> {
    let parts: Vec<&str> = text.split_terminator(';').collect();
    if parts.len() != blocks {
        return None;
    }
    parts.into_iter().map(block).collect()
}

fn block(text: &str) -> Option<Coarse> {
    let (mut coarse, mut last) = (Coarse::new(), 0_i32);
    for pair in vlq::numbers(text).ok()?.chunks(2) {
        let [step, count] = pair else { return None };
        last = last.checked_add(i32::try_from(*step).ok()?)?;
        coarse.insert(last, u64::try_from(*count).ok()?);
    }
    Some(coarse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(rows: &[&[&[(i32, u64)]]]) -> RequestBlocks {
        let text = |row: &&[&[(i32, u64)]]| {
            let mut text = String::new();
            for block in *row {
                pack(&mut text, &block.iter().copied().collect());
                text.push(';');
            }
            text
        };
        let count = rows[0].len();
        RequestBlocks {
            starts_s: (0..count).map(|n| n as f64).collect(),
            lengths_s: vec![1.0; count],
            rows: rows.iter().map(text).collect(),
        }
    }

    #[test]
    fn a_row_says_where_its_requests_were_made() {
        let kind = RequestKind {
            name: "GET /".into(),
            scenario: "shop".into(),
            group: "::pay::card".into(),
            example: Some("http://h/?page=1".into()),
            ..RequestKind::default()
        };
        let row = RequestRow::from(&kind);
        assert_eq!([&*row.name, &*row.scenario, &*row.group], ["GET /", "shop", "::pay::card"]);
        assert_eq!(row.example.as_deref(), Some("http://h/?page=1"));
        assert_eq!(RequestRow::from(&RequestKind::default()).example, None);
    }

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let blocks = blocks(&[&[&[(-400, 3), (0, 1), (100, 70_000)], &[], &[(5, 1)]]]);
        assert_eq!(blocks.rows, ["hZGgZCoGg3oE;;KC;"]);
        assert_eq!(blocks.row(0)[0], Coarse::from([(-400, 3), (0, 1), (100, 70_000)]));
        assert_eq!([block("!"), block("A"), block("AD")], [None, None, None], "no digit, half a pair, fewer than none");
        assert_eq!(unpacked("KC;", 2), None);
    }

    #[test]
    fn fewer_blocks_hold_the_same_requests() {
        let all = blocks(&[&[&[(1, 1)], &[(1, 2)], &[(2, 3)], &[], &[(9, 5)]], &[&[], &[], &[], &[], &[(0, 1)]]]);
        let fewer = all.within(18);
        assert_eq!((&fewer.starts_s[..], &fewer.lengths_s[..]), (&[0.0, 2.0, 4.0][..], &[2.0, 2.0, 1.0][..]));
        assert_eq!(fewer.row(0), [Coarse::from([(1, 3)]), Coarse::from([(2, 3)]), Coarse::from([(9, 5)])]);
        assert_eq!(all.within(1000), all);
    }
}
