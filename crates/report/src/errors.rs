//! What went wrong in a run, by kind and count: one form for the text summary, the exports, the result document and
//! reports.

use metrics::results::Results;
use metrics::{ErrorKind, Protocol, RequestKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What went wrong; in each list the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Errors {
    /// Exceptions that ended an iteration, with the place in the script.
    pub exceptions: Vec<Counted>,
    /// Answers with a status from 400 on.
    pub answers: Vec<ErrorStatus>,
    /// Why requests got no answer.
    pub unanswered: Vec<Counted>,
}

/// One kind of error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// What went wrong.
    pub what: String,
    /// How often.
    pub count: u64,
    /// When, and an example.
    #[serde(flatten)]
    pub seen: Seen,
}

/// When something was seen, by the second, and one of the requests that it happened to. Absent where nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// Start of the first second with it, from the start of the scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_s: Option<f64>,
    /// End of the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_s: Option<f64>,
    /// Method and URL of a request: `GET http://shop.test/checkout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// Answers with one status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorStatus {
    /// The status.
    pub status: u16,
    /// Whether the script expects it (`http.expectedStatuses`, or a challenge that digest authentication answers).
    pub expected: bool,
    /// How often.
    pub count: u64,
    /// When, and an example.
    #[serde(flatten)]
    pub seen: Seen,
}

impl From<&Results> for Errors {
    fn from(results: &Results) -> Self {
        Errors::of(results, |_| None)
    }
}

impl Errors {
    /// With the first and last second in which each was seen, as far as that is known.
    pub fn of(results: &Results, times: impl Fn(&ErrorKind) -> Option<(f64, f64)>) -> Errors {
        let mut errors = Errors::default();
        for error in &results.errors {
            let (first_s, last_s) = times(&error.kind).unzip();
            let seen = Seen { first_s, last_s, example: example(results, &error.kind) };
            let count = error.count;
            match &error.kind {
                ErrorKind::Exception(what) => errors.exceptions.push(Counted { what: what.to_string(), count, seen }),
                ErrorKind::NoAnswer(what) => errors.unanswered.push(Counted { what: what.to_string(), count, seen }),
                ErrorKind::Status { status, expected } => {
                    errors.answers.push(ErrorStatus { status: *status, expected: *expected, count, seen });
                }
            }
        }
        errors
    }

    /// Whether nothing went wrong, not even as expected.
    pub fn is_empty(&self) -> bool {
        self.exceptions.is_empty() && self.answers.is_empty() && self.unanswered.is_empty()
    }

    /// Iterations that ended in an exception.
    pub fn threw(&self) -> u64 {
        self.exceptions.iter().map(|error| error.count).sum()
    }

    /// Requests without an answer.
    pub fn without_answer(&self) -> u64 {
        self.unanswered.iter().map(|error| error.count).sum()
    }

    /// The most frequent of what went wrong with requests, as ` (connection refused)`; empty without any.
    pub fn first(&self) -> String {
        let unanswered = self.unanswered.first().map(|error| (error.count, error.what.clone()));
        let answers = self.statuses(false).next().map(|answer| (answer.count, format!("status {}", answer.status)));
        let first = unanswered.into_iter().chain(answers).max_by_key(|(count, _)| *count);
        first.map(|(_, what)| format!(" ({what})")).unwrap_or_default()
    }

    /// Requests that the target refused or failed: status 429 and those from 500 on, connections that it did not take
    /// or reset.
    pub fn refused(&self) -> u64 {
        let statuses =
            self.answers.iter().filter(|answer| !answer.expected && (answer.status == 429 || answer.status >= 500));
        let statuses: u64 = statuses.map(|answer| answer.count).sum();
        let is_refusal = |what: &str| what.contains("connection refused") || what.contains("connection reset");
        let connections = self.unanswered.iter().filter(|error| is_refusal(&error.what));
        statuses + connections.map(|error| error.count).sum::<u64>()
    }

    /// Answers with a status from 400 on that the script does not expect.
    pub fn unexpected_answers(&self) -> u64 {
        self.statuses(false).map(|answer| answer.count).sum()
    }

    /// `404 × 12, 500 × 3`: the answers from 400 on that the script expects, or those that it does not.
    pub fn named_statuses(&self, expected: bool) -> String {
        let named = self.statuses(expected).map(|answer| format!("{} {}", answer.status, times(answer.count)));
        named.collect::<Vec<_>>().join(", ")
    }

    fn statuses(&self, expected: bool) -> impl Iterator<Item = &ErrorStatus> {
        self.answers.iter().filter(move |answer| answer.expected == expected)
    }
}

/// A request that this happened to, of the kind to which it happened most.
fn example(results: &Results, kind: &ErrorKind) -> Option<String> {
    let is_of = |request: &RequestKind| match kind {
        ErrorKind::Exception(_) => false,
        ErrorKind::NoAnswer(what) => request.error == *what,
        ErrorKind::Status { status, expected } => request.status == *status && *expected != request.failed,
    };
    let of_http = |kind: &RequestKind| !kind.is_other() && kind.protocol == Protocol::Http;
    let mut rows = results.requests.rows.iter().filter(|row| of_http(&row.kind));
    let RequestKind { method, name, example, .. } = &rows.find(|row| is_of(&row.kind))?.kind;
    Some(format!("{method} {}", example.as_ref().unwrap_or(name)))
}

/// `× 67,346`.
pub fn times(count: u64) -> String {
    format!("× {}", units::show::grouped(count))
}
