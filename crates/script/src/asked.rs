//! What is no request of HTTP and yet a row of the table of requests: calls of gRPC, attempts to open a WebSocket.
//!
//! Resolved as rarely as series are. Invariant: texts that a target may write are bounded, in length and number, so
//! that a message with a number in it takes no rows from others.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use metrics::{Protocol, RequestKind, TagSet};

use crate::Vu;

/// Texts of errors that a worker tells apart.
const TEXTS: usize = 40;
/// Characters of one.
const LONGEST: usize = 200;

/// What was asked for, and how that went.
pub struct AskedRow<'a> {
    /// How.
    pub protocol: Protocol,
    /// The name that the script gave; else what stands for it.
    pub name: &'a str,
    /// Where it went, when the script gave a name.
    pub example: Option<&'a str>,
    /// 0 where nobody answered a WebSocket.
    pub status: u16,
    /// Why it failed; empty where the status says all.
    pub error: &'a str,
    /// Whether it did.
    pub failed: bool,
}

impl AskedRow<'_> {
    /// Adds what tells it from others to a key. The example is no part of it.
    pub fn write(&self, key: &mut Vec<u8>) {
        key.extend_from_slice(&[self.protocol as u8, u8::from(self.failed)]);
        key.extend_from_slice(&self.status.to_ne_bytes());
        for text in [self.name, self.error] {
            key.extend_from_slice(&text.len().to_ne_bytes());
            key.extend_from_slice(text.as_bytes());
        }
    }

    /// Its row.
    pub fn kind(&self, tags: &TagSet) -> RequestKind {
        let tag = |name: &str| Arc::from(tags.get(name).unwrap_or_default());
        let method = match self.protocol {
            Protocol::Http => unreachable!("requests of HTTP have rows of their own; this is a bug"),
            Protocol::Grpc => "gRPC",
            Protocol::WebSocket => "WS",
        };
        RequestKind {
            name: self.name.into(),
            method: method.into(),
            protocol: self.protocol,
            status: self.status,
            error: self.error.into(),
            failed: self.failed,
            scenario: tag("scenario"),
            group: tag("group"),
            example: self.example.map(Into::into),
        }
    }
}

/// The texts of errors that are told apart; a worker's.
#[derive(Default)]
pub struct ErrorTexts(RefCell<HashSet<String>>);

impl ErrorTexts {
    /// A text as rows have it, whose secrets are masked: not too long, and one for all when there have been too many.
    pub fn of(vu: &Vu, text: Cow<'_, str>) -> String {
        if text.is_empty() { String::new() } else { vu.worker_local::<ErrorTexts>().bounded(text.into_owned()) }
    }

    fn bounded(&self, text: String) -> String {
        let text = match text.char_indices().nth(LONGEST) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        };
        let mut known = self.0.borrow_mut();
        if known.contains(&text) {
            return text;
        }
        if known.len() >= TEXTS {
            return String::from("other errors");
        }
        known.insert(text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bounded() {
        let texts = ErrorTexts::default();
        let long = texts.bounded("ü".repeat(LONGEST + 1));
        assert_eq!(long, format!("{}…", "ü".repeat(LONGEST)));
        assert_eq!(texts.bounded("ü".repeat(LONGEST)), "ü".repeat(LONGEST));
        (2..TEXTS).for_each(|n| assert_eq!(texts.bounded(format!("user {n}")), format!("user {n}")));
        assert_eq!(texts.bounded(String::from("user 1000")), "other errors");
        assert_eq!(texts.bounded(String::from("user 7")), "user 7", "those that are known stay");
    }

    #[test]
    fn what_decides_is_in_the_key() {
        let asked = |name, error, status, failed| {
            let mut key = Vec::new();
            let protocol = Protocol::Grpc;
            AskedRow { protocol, name, example: None, status, error, failed }.write(&mut key);
            key
        };
        let keys =
            [asked("ab", "", 0, false), asked("a", "b", 0, false), asked("ab", "", 1, false), asked("ab", "", 0, true)];
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
    }
}
