//! Failed requests of a quick run by what went wrong: the first of each kind is logged, all are counted.
//!
//! A script's author wants a line for each failed request; whoever tries a URL with a hundred users wants to know that
//! the connection was refused 48,211 times. Other log lines pass.

use std::sync::{Arc, Mutex, PoisonError};

use script::log::{LogSink, Record};

use crate::log::Logger;

/// Kinds told apart; the rest is counted together.
const KINDS: usize = 16;

/// Counts failed requests on their way to the log.
pub struct Failures {
    log: Arc<Logger>,
    kinds: Mutex<Vec<(String, u64)>>,
}

impl Failures {
    /// In front of this log.
    pub fn new(log: Arc<Logger>) -> Failures {
        Failures { log, kinds: Mutex::default() }
    }

    /// What went wrong and how often, the most frequent first.
    pub fn counted(&self) -> Vec<(String, u64)> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).clone();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds
    }

    /// Counts one; whether it is the first of its kind.
    fn note(&self, what: &str) -> bool {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = kinds.iter_mut().find(|(known, _)| known == what) {
            *count += 1;
            return false;
        }
        let is_room = kinds.len() < KINDS;
        let what = if is_room { what } else { "others" };
        match kinds.iter_mut().find(|(known, _)| known == what) {
            Some((_, count)) => *count += 1,
            None => kinds.push((what.to_owned(), 1)),
        }
        is_room
    }
}

impl std::fmt::Debug for Failures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Failures").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl LogSink for Failures {
    fn log(&self, record: &Record<'_>) {
        let error = record.fields.iter().find(|(name, _)| *name == "error").map(|(_, error)| *error);
        let Some(error) = error.filter(|_| record.message == "Request Failed") else { return self.log.log(record) };
        // `Get "http://…": dial tcp …`: what was asked for is known.
        let what = error.split_once("\": ").map_or(error, |(_, what)| what);
        if self.note(what) {
            self.log.log(record);
        }
    }
}
