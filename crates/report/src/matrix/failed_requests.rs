//! Failed requests of a run by what went wrong: `status 503`, `dial: connection refused`.
//!
//! A result of Onrush names them (`errors`), another program by the groups of its expressions. What neither names is
//! counted as `other`: an answer below 400 that its script did not expect, or a result of an older version.

use std::collections::BTreeMap;

use super::document::RunRecord;
use super::figures::Figures;
use crate::document::{Document, Value};

/// Failed requests without a kind.
const OTHER: &str = "other";

/// Failed requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailedRequests {
    /// All of them.
    pub total: f64,
    /// How many of each kind; none of a program that tells only how many.
    pub kinds: BTreeMap<String, f64>,
}

impl FailedRequests {
    /// Those of a run, valid or not; none when nobody counted.
    pub fn of(run: &RunRecord) -> Option<FailedRequests> {
        match (&run.figures, &run.result) {
            (Some(figures), _) => FailedRequests::of_figures(figures),
            (None, Some(result)) => FailedRequests::of_result(result),
            (None, None) => None,
        }
    }

    /// Those that another program reported; none when it reported no errors.
    pub fn of_figures(figures: &Figures) -> Option<FailedRequests> {
        Some(FailedRequests { total: figures.errors?, kinds: figures.errors_by_kind.clone() })
    }

    /// Those of a result; none when it counts no requests.
    pub fn of_result(result: &Document) -> Option<FailedRequests> {
        let Value::Rate { passes, .. } = result.metric("http_req_failed")?.value else { return None };
        let answers = result.errors.answers.iter().filter(|answer| !answer.expected);
        let answers = answers.map(|answer| (format!("status {}", answer.status), answer.count as f64));
        let unanswered = result.errors.unanswered.iter().map(|error| (error.what.clone(), error.count as f64));
        let mut kinds: BTreeMap<String, f64> = answers.chain(unanswered).collect();
        let total = passes as f64;
        let rest = total - kinds.values().sum::<f64>();
        if rest > 0.0 {
            kinds.insert(String::from(OTHER), rest);
        }
        Some(FailedRequests { total, kinds })
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &FailedRequests) {
        self.total += other.total;
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind.clone()).or_insert(0.0) += count;
        }
    }

    /// `300 × status 500, 2 × timeout`, the most frequent first; empty without kinds.
    pub fn text(&self) -> String {
        let mut kinds: Vec<(&String, &f64)> = self.kinds.iter().collect();
        kinds.sort_by(|a, b| b.1.total_cmp(a.1));
        kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(failed: u64, errors: serde_json::Value) -> Document {
        serde_json::from_value(json!({
            "kind": "onrush-result", "schema": 1, "onrush": "0.1.0", "started_at": "", "duration_s": 2.0, "script": "",
            "options": {}, "environment": crate::document::Environment::default(),
            "generator": crate::document::Generator::default(), "exit": { "code": 0, "reason": null }, "errors": errors,
            "metrics": [{ "name": "http_req_failed", "filter": null, "contains": "default", "kind": "rate",
                          "value": { "passes": failed, "total": 100 } }],
            "checks": [], "groups": { "name": "", "path": "", "checks": [], "groups": [] },
            "seconds": { "starts_s": [], "lengths_s": [], "series": [] },
        }))
        .expect("a result")
    }

    #[test]
    fn kinds_are_named_and_the_rest_is_counted() {
        let errors = json!({
            "exceptions": [{ "what": "thrown", "count": 5 }],
            "answers": [
                { "status": 503, "expected": false, "count": 12 },
                { "status": 404, "expected": true, "count": 9 },
            ],
            "unanswered": [{ "what": "dial: connection refused", "count": 4 }],
        });
        let found = FailedRequests::of_result(&result(19, errors)).expect("requests were made");
        assert_eq!(found.total, 19.0);
        assert_eq!(found.text(), "12 × status 503, 4 × dial: connection refused, 3 × other");
        let none = json!({ "exceptions": [], "answers": [], "unanswered": [] });
        assert_eq!(FailedRequests::of_result(&result(0, none)), Some(FailedRequests::default()));
    }

    #[test]
    fn those_of_several_runs_add_up_by_kind() {
        let failed = |total: f64, kinds: &[(&str, f64)]| FailedRequests {
            total,
            kinds: kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect(),
        };
        let mut all = failed(3.0, &[("status 500", 2.0), ("timeout", 1.0)]);
        all.add(&failed(9.0, &[("status 503", 5.0), ("timeout", 4.0)]));
        assert_eq!(all, failed(12.0, &[("status 500", 2.0), ("status 503", 5.0), ("timeout", 5.0)]));
    }
}
