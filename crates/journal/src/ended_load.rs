//! What a coordinator writes down when its agents have brought everything, for another one that ends the run if this
//! one is killed in `teardown()` or later. The samples are in the journal; this is what else it knew.

use std::time::Duration;

use engine::{RunState, StopCause, Stopper};
use report::document::MessageLogs;
use serde::{Deserialize, Serialize};

use crate::members::Members;
use crate::part::PartEnd;
use crate::second::{decode, encode};

/// A load that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedLoad {
    /// So many bytes of the journal are its samples.
    pub journal: u64,
    /// When it started, by the clock of the run that was killed.
    pub started: Duration,
    /// All of its agents, in order.
    pub members: Vec<EndedMember>,
    /// No clock was further off at the start.
    pub bound: Duration,
    /// Stamps of two agents may be so far apart.
    pub apart: Duration,
    /// Why it ended early.
    pub cause: Option<EndedBy>,
    /// What became of received messages, and whether all are there that could be.
    pub messages: Option<(MessageLogs, bool)>,
    /// Whether the agents have been let go: there is nobody to be waited for.
    pub is_let_go: bool,
    /// Whether `teardown()` has returned.
    pub is_torn_down: bool,
}

/// An agent of a load that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndedMember {
    /// What it is called.
    pub name: String,
    /// It began so long after the instant.
    pub late: Duration,
    /// How its part ended.
    pub end: Option<PartEnd>,
    /// Why its samples are not all here.
    pub lost: Option<String>,
    /// Times it was silent.
    pub silences: Vec<String>,
}

/// Why a load ended before its plan did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EndedBy {
    /// `exec.test.abort`, and its message.
    Script(String),
    /// A threshold that was crossed.
    Threshold(String),
    /// A signal, by its name.
    Signal(String),
    /// A client of the REST API.
    Api,
    /// The run itself.
    Requested,
}

impl EndedBy {
    /// Of a run that has ended.
    pub fn of(stopper: &Stopper) -> Option<EndedBy> {
        Some(match stopper.cause()? {
            StopCause::Script(message) => EndedBy::Script(message.clone()),
            StopCause::Threshold(names) => EndedBy::Threshold(names.clone()),
            StopCause::Signal(name) => EndedBy::Signal((*name).to_owned()),
            StopCause::Api => EndedBy::Api,
            StopCause::Requested => EndedBy::Requested,
        })
    }

    /// The same for the run that ends it.
    fn cause(&self) -> StopCause {
        match self {
            EndedBy::Script(message) => StopCause::Script(message.clone()),
            EndedBy::Threshold(names) => StopCause::Threshold(names.clone()),
            EndedBy::Signal(name) => {
                let known = ["SIGINT", "SIGTERM", "SIGHUP"].into_iter().find(|known| known == name);
                StopCause::Signal(known.unwrap_or("a signal"))
            }
            EndedBy::Api => StopCause::Api,
            EndedBy::Requested => StopCause::Requested,
        }
    }
}

impl EndedLoad {
    /// As it is kept in a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// From such bytes; the error says what else they are.
    pub fn read(bytes: &[u8]) -> Result<EndedLoad, String> {
        decode(bytes)
    }

    /// Puts the run where the other one was.
    pub fn go_on(&self, members: &mut Members, state: &RunState, stopper: &Stopper) {
        members.restore(self, state);
        state.set_started(self.started);
        self.cause.iter().for_each(|by| stopper.stop(by.cause()));
    }
}
