//! The account of the world: what its network and its server saw, which the client's figures are held against.
//!
//! Only the network, the server and the users' diary write here, never the product.

use std::collections::HashMap;
use std::time::Duration;

use metrics::{MetricId, builtin};

/// The Trends of an exchange.
pub(crate) const TIMES: [MetricId; 7] = [
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
];

/// What became of dialling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Accepted,
    Refused,
    Unreachable,
    /// No answer came; the client gave up.
    Unanswered,
}

/// One attempt to connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DialLog {
    pub(crate) fate: Fate,
    pub(crate) began: Duration,
    /// When its end was told.
    pub(crate) ended: Duration,
}

/// When bytes came: at the machine, and at the program that reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) due: Duration,
    pub(crate) seen: Duration,
}

/// One connection, by its number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConnectionLog {
    pub(crate) began: Duration,
    pub(crate) opened: Duration,
    /// Bytes that the client's socket took and gave.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// When its socket took the last byte.
    pub(crate) last_sent: Duration,
    /// When the client's socket told of an end.
    pub(crate) fin_seen: Option<Duration>,
    pub(crate) reset_seen: Option<Duration>,
    /// Bytes on their way are lost, or will be: it breaks, or falls silent.
    pub(crate) loses_bytes: bool,
    /// When the first byte of an answer to nothing was read.
    pub(crate) ghost: Option<Arrived>,
    /// It was taken for the answer to another request: from then on answers on this connection are one behind.
    pub(crate) is_behind: bool,
    /// Bytes of it that were read.
    pub(crate) ghost_bytes: u64,
}

/// One hop as the server saw it, by its key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served {
    /// How often its head came.
    pub(crate) heads: u32,
    pub(crate) method: String,
    /// All of it came.
    pub(crate) is_whole: bool,
    /// The whole answer was handed to the network.
    pub(crate) is_answered: bool,
    /// When its last byte arrives.
    pub(crate) answered_at: Option<Arrived>,
    pub(crate) first: Option<Arrived>,
    pub(crate) last: Option<Arrived>,
}

/// One iteration, by the user who ran it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiaryEntry {
    pub(crate) scenario: usize,
    pub(crate) planned: Duration,
    pub(crate) began: Duration,
    pub(crate) ended: Duration,
    pub(crate) is_completed: bool,
}

/// What the client said of its requests, added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) exchanges: u64,
    pub(crate) failed: u64,
    pub(crate) interrupted: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Nanoseconds of each exchange, in the order of `TIMES`.
    pub(crate) times: [Vec<u64>; 7],
}

/// All that was written down.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) dials: Vec<DialLog>,
    pub(crate) connections: Vec<ConnectionLog>,
    pub(crate) served: HashMap<u64, Served>,
    pub(crate) diary: Vec<DiaryEntry>,
    pub(crate) told: Told,
    /// What does not hold, found on the way.
    pub(crate) wrong: Vec<String>,
}

impl Ledger {
    /// Iterations that were cut short.
    pub(crate) fn cut_short(&self) -> u64 {
        self.diary.iter().filter(|entry| !entry.is_completed).count() as u64
    }

    /// Writes down what does not hold; the first few are enough.
    pub(crate) fn wrong(&mut self, what: impl FnOnce() -> String) {
        if self.wrong.len() < 5 {
            self.wrong.push(what());
        }
    }
}
