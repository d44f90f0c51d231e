//! What went wrong in a run, counted by kind: what a summary names beside its metrics.
//!
//! Only what goes wrong is counted here, so an answer that is fine costs nothing. The number of kinds is bounded:
//! messages may hold anything, and each kind takes memory on each worker.

use std::sync::Arc;

/// Kinds with a text that one worker tells apart; further ones are counted together.
pub(crate) const KINDS: usize = 100;

/// One kind of error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// An iteration ended in this exception.
    Exception(Arc<str>),
    /// A request was answered with a status from 400 on.
    Status {
        /// The status.
        status: u16,
        /// Whether the script says that it expects this answer.
        expected: bool,
    },
    /// A request got no answer, because of this.
    NoAnswer(Arc<str>),
}

impl ErrorKind {
    /// What it is counted as when there are too many kinds.
    pub(crate) fn other(&self) -> ErrorKind {
        match self {
            ErrorKind::Exception(_) => ErrorKind::Exception(Arc::from("other exceptions")),
            ErrorKind::NoAnswer(_) => ErrorKind::NoAnswer(Arc::from("other failures")),
            status @ ErrorKind::Status { .. } => status.clone(),
        }
    }
}

/// How often something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorCount {
    /// What.
    pub kind: ErrorKind,
    /// How often.
    pub count: u64,
}
