//! What went wrong in a run, by kind and count: one form for the text summary, the exports, the result document and
//! reports.

use metrics::ErrorKind;
use metrics::results::Results;
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// What went wrong.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// Answers with one status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorStatus {
    /// The status.
    pub status: u16,
    /// Whether the script expects it (`http.expectedStatuses`, or a challenge that digest authentication answers).
    pub expected: bool,
    /// How often.
    pub count: u64,
}

impl From<&Results> for Errors {
    fn from(results: &Results) -> Self {
        let mut errors = Errors::default();
        for error in &results.errors {
            let counted = |what: &str| Counted { what: what.to_owned(), count: error.count };
            match &error.kind {
                ErrorKind::Exception(what) => errors.exceptions.push(counted(what)),
                ErrorKind::NoAnswer(what) => errors.unanswered.push(counted(what)),
                ErrorKind::Status { status, expected } => {
                    errors.answers.push(ErrorStatus { status: *status, expected: *expected, count: error.count });
                }
            }
        }
        errors
    }
}

impl Errors {
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

/// `× 67,346`.
pub fn times(count: u64) -> String {
    format!("× {}", units::show::grouped(count))
}
