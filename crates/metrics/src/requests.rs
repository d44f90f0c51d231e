//! Requests by kind: what was asked for, how it was answered, in which scenario and group; with how many there were and
//! how long they took.
//!
//! Nobody has to ask for it by sub-metrics. A sample of a request's duration feeds one sink more, its row, which the
//! recorder finds once for each set of tags. Rows are bounded on each worker and in the table, because a script may ask
//! for as many URLs as it likes: what does not fit is added up by outcome, and the table says so.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::results::TrendValue;
use crate::trend::Trend;

/// Kinds that one worker keeps apart, and rows of the table.
pub const REQUEST_KINDS: usize = 200;

/// How something was asked for, which says what its status means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Protocol {
    /// A request of HTTP; its status has three digits.
    #[default]
    Http,
    /// A call of gRPC or Connect, or a stream of them; 0 is OK.
    Grpc,
    /// An attempt to open a WebSocket, which took as long as `ws_connecting` says; 101 is an open one.
    WebSocket,
}

/// What requests have in common that are one row.
///
/// The example is no part of it: two kinds are equal whatever theirs are, and the first that is met is kept.
#[derive(Clone, Debug, Default, PartialOrd, Ord)]
pub struct RequestKind {
    /// The name that the script gave, or the URL as its tag has it; empty where kinds were added up.
    pub name: Arc<str>,
    /// `GET`, or `gRPC` or `WS`; empty where kinds were added up.
    pub method: Arc<str>,
    /// Whose statuses these are.
    pub protocol: Protocol,
    /// Of the answer; 0 without one. Each call of gRPC has one.
    pub status: u16,
    /// Why there is no answer; empty where there is one.
    pub error: Arc<str>,
    /// Whether it counts as failed: `http_req_failed`; for gRPC any status but OK, for a WebSocket any but 101.
    pub failed: bool,
    /// Whose iteration made it; empty outside of one.
    pub scenario: Arc<str>,
    /// In which group; empty for none.
    pub group: Arc<str>,
    /// The URL of one of them, where that is not the name.
    pub example: Option<Arc<str>>,
}

impl RequestKind {
    /// What it counts as when there are too many kinds.
    pub(crate) fn other(&self) -> RequestKind {
        let RequestKind { protocol, status, failed, .. } = *self;
        RequestKind { protocol, status, failed, ..RequestKind::default() }
    }

    /// Whether it stands for kinds that were added up.
    pub fn is_other(&self) -> bool {
        self.method.is_empty()
    }

    fn identity(&self) -> (&str, &str, (Protocol, u16), &str, bool, &str, &str) {
        let RequestKind { name, method, protocol, status, error, failed, scenario, group, .. } = self;
        (name, method, (*protocol, *status), error, *failed, scenario, group)
    }
}

impl PartialEq for RequestKind {
    fn eq(&self, other: &RequestKind) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for RequestKind {}

impl Hash for RequestKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// Requests of one kind.
#[derive(Clone, Debug)]
pub struct RequestResult {
    /// What they have in common.
    pub kind: RequestKind,
    /// How long they took, in ms; its count is how many there were.
    pub durations: TrendValue,
}

/// All requests of a run by kind.
#[derive(Clone, Debug, Default)]
pub struct RequestTable {
    /// Those that failed in front, then the most frequent.
    pub rows: Vec<RequestResult>,
    /// Whether some rows stand for kinds that were added up by outcome, because there were more than `REQUEST_KINDS`.
    pub is_cut: bool,
}

impl RequestTable {
    /// The table of all kinds with their durations: as many as there may be, the others added up.
    pub(crate) fn new<'a>(all: impl Iterator<Item = (&'a RequestKind, &'a Trend)>) -> RequestTable {
        let mut all: Vec<(&RequestKind, &Trend)> = all.filter(|(_, trend)| trend.count() > 0).collect();
        all.sort_by(|(a, x), (b, y)| {
            (a.is_other(), !a.failed, y.count(), a).cmp(&(b.is_other(), !b.failed, x.count(), b))
        });
        let requests: u64 = all.iter().map(|(_, trend)| trend.count()).sum();
        let (mut rows, mut others) = (Vec::new(), BTreeMap::<RequestKind, Trend>::new());
        for (kind, trend) in all {
            if rows.len() < REQUEST_KINDS && !kind.is_other() {
                rows.push(RequestResult { kind: kind.clone(), durations: trend.clone().into() });
            } else {
                others.entry(kind.other()).or_default().merge(trend);
            }
        }
        let is_cut = !others.is_empty();
        let other = |(kind, trend): (RequestKind, Trend)| RequestResult { kind, durations: trend.into() };
        rows.extend(others.into_iter().rev().map(other));
        let told: u64 = rows.iter().map(|row| row.durations.count()).sum();
        assert_eq!(told, requests, "each request is in one row");
        RequestTable { rows, is_cut }
    }

    /// The durations of rows that are the same but for scenario and group, in the order of the first of each.
    pub fn by_request(&self) -> Vec<RequestResult> {
        let mut places: BTreeMap<RequestKind, usize> = BTreeMap::new();
        let mut merged: Vec<(RequestKind, Trend)> = Vec::new();
        for RequestResult { kind, durations } in &self.rows {
            let nowhere = RequestKind { scenario: "".into(), group: "".into(), example: None, ..kind.clone() };
            let place = *places.entry(nowhere.clone()).or_insert(merged.len());
            match merged.get_mut(place) {
                Some((_, trend)) => trend.merge(durations.as_ref()),
                None => merged.push((nowhere, durations.as_ref().clone())),
            }
        }
        let counted: u64 = merged.iter().map(|(_, trend)| trend.count()).sum();
        let told: u64 = self.rows.iter().map(|row| row.durations.count()).sum();
        assert_eq!(counted, told, "each request is in one row");
        merged.into_iter().map(|(kind, trend)| RequestResult { kind, durations: trend.into() }).collect()
    }

    /// The row that a kind's samples are in.
    pub fn row_of(&self, kind: &RequestKind) -> Option<usize> {
        let find = |kind: &RequestKind| self.rows.iter().position(|row| row.kind == *kind);
        find(kind).or_else(|| find(&kind.other()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::threshold::Thresholds;
    use crate::naming::builtin;
    use crate::{Aggregate, Recorder, Registry, TagSet};

    fn kind(name: &str, status: u16) -> RequestKind {
        let method = "GET".into();
        RequestKind { name: name.into(), method, status, failed: status >= 400, ..RequestKind::default() }
    }

    fn table(kinds: impl IntoIterator<Item = (RequestKind, u64)>) -> RequestTable {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        for (kind, times) in kinds {
            let series = recorder.series_of_request(builtin::HTTP_REQ_DURATION, &TagSet::empty(), &kind);
            (0..times).for_each(|n| recorder.add(series, n as f64, 0));
        }
        let mut aggregate = Aggregate::new(registry, Thresholds::default());
        aggregate.merge(recorder.take());
        let results = aggregate.results(std::time::Duration::from_secs(1), false);
        let all: u64 = results.requests.rows.iter().map(|row| row.durations.count()).sum();
        let Some(crate::results::Value::Trend(total)) = results.metric("http_req_duration").map(|m| &m.value) else {
            panic!("a total")
        };
        assert_eq!(all, total.count(), "rows add up to the metric");
        results.requests
    }

    #[test]
    fn what_failed_stands_in_front_and_an_example_is_no_identity() {
        let with_example = RequestKind { example: Some("/b/1".into()), ..kind("/b", 200) };
        let other_example = RequestKind { example: Some("/b/2".into()), ..kind("/b", 200) };
        let table = table([(kind("/a", 200), 9), (with_example, 5), (other_example, 5), (kind("/a", 503), 2)]);
        let told = table.rows.iter().map(|row| (&*row.kind.name, row.kind.status, row.durations.count()));
        let told: Vec<_> = told.collect();
        assert_eq!(told, [("/a", 503, 2), ("/b", 200, 10), ("/a", 200, 9)]);
        assert_eq!(table.rows[1].kind.example.as_deref(), Some("/b/1"));
        assert!(!table.is_cut);
    }

    #[test]
    fn too_many_kinds_are_added_up_by_outcome() {
        let many = (0..REQUEST_KINDS as u16 + 50).map(|n| (kind(&format!("/{n}"), 200 + n % 2 * 303), 2));
        let table = table(many);
        assert!(table.is_cut);
        assert_eq!(table.rows.len(), REQUEST_KINDS + 2);
        let rest: Vec<_> = table.rows.iter().filter(|row| row.kind.is_other()).collect();
        assert_eq!(
            rest.iter().map(|row| (row.kind.status, row.durations.count())).collect::<Vec<_>>(),
            [(503, 50), (200, 50)]
        );
        assert_eq!(table.row_of(&kind("/249", 503)), Some(REQUEST_KINDS));
    }

    #[test]
    fn what_is_no_http_has_rows_of_its_own() {
        let of = |protocol, status| RequestKind { protocol, ..kind("/a", status) };
        let known = [(Protocol::Http, 0), (Protocol::Grpc, 0), (Protocol::WebSocket, 0)];
        assert_eq!(table(known.map(|(protocol, status)| (of(protocol, status), 2))).rows.len(), 3);
        let too_many = (0..REQUEST_KINDS as u16).map(|n| (kind(&format!("/{n}"), 200), 5));
        let cut = table(too_many.chain(known.map(|(protocol, status)| (of(protocol, status), 2))));
        let others: Vec<Protocol> =
            cut.rows.iter().filter(|row| row.kind.is_other()).map(|r| r.kind.protocol).collect();
        assert_eq!(others, [Protocol::WebSocket, Protocol::Grpc, Protocol::Http], "added up, and not with one another");
        assert_eq!(cut.row_of(&of(Protocol::Grpc, 0)), Some(REQUEST_KINDS + 1));
    }

    #[test]
    fn what_is_added_up_keeps_its_outcome_alone() {
        let whole = RequestKind {
            protocol: Protocol::Grpc,
            failed: true,
            error: "unavailable".into(),
            scenario: "a".into(),
            group: "::g".into(),
            example: Some("/b/1".into()),
            ..kind("/b", 14)
        };
        let RequestKind { name, method, protocol, status, error, failed, scenario, group, example } = whole.other();
        assert_eq!((protocol, status, failed, example), (Protocol::Grpc, 14, true, None));
        assert_eq!([name, method, error, scenario, group].map(|text| text.to_string()), [""; 5]);
        assert!(whole.other().is_other() && !whole.is_other());
    }

    #[test]
    fn each_part_of_a_kind_makes_another_one_but_for_its_example() {
        let one = kind("/a", 200);
        let others = [
            RequestKind { name: "/b".into(), ..one.clone() },
            RequestKind { method: "POST".into(), ..one.clone() },
            RequestKind { protocol: Protocol::Grpc, ..one.clone() },
            RequestKind { status: 201, ..one.clone() },
            RequestKind { error: "reset".into(), ..one.clone() },
            RequestKind { failed: true, ..one.clone() },
            RequestKind { scenario: "s".into(), ..one.clone() },
            RequestKind { group: "::g".into(), ..one.clone() },
        ];
        assert!(others.iter().all(|other| *other != one));
        let known: std::collections::HashSet<RequestKind> = others.into_iter().chain([one.clone()]).collect();
        assert_eq!(known.len(), 9);
        assert!(known.contains(&RequestKind { example: Some("/a/1".into()), ..one }));
    }

    #[test]
    fn scenarios_and_groups_are_put_together_by_request() {
        let of = |name: &str, status, scenario: &str, group: &str, example: &str| {
            let [scenario, group] = [scenario, group].map(Arc::from);
            RequestKind { scenario, group, example: Some(example.into()), ..kind(name, status) }
        };
        let table = table([
            (of("/a", 200, "one", "", "/a/1"), 9),
            (of("/b", 200, "one", "", "/b/1"), 7),
            (of("/a", 200, "two", "", "/a/2"), 3),
            (of("/a", 200, "one", "::g", "/a/3"), 2),
            (of("/a", 503, "one", "::g", "/a/4"), 1),
        ]);
        assert_eq!(table.rows.len(), 5);
        let told: Vec<_> = table.by_request().into_iter().map(|row| (row.kind, row.durations.count())).collect();
        assert_eq!(told, [(kind("/a", 503), 1), (kind("/a", 200), 14), (kind("/b", 200), 7)]);
        assert!(told.iter().all(|(kind, _)| kind.example.is_none()), "which of them would it be");
    }
}
