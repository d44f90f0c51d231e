//! A kind of requests as shards carry it. Texts of its own, because those of a kind are shared and may not be changed
//! where one turns out to be secret.

use serde::{Deserialize, Serialize};

use crate::requests::{Protocol, RequestKind};

/// The fields of a `RequestKind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RequestEntry {
    name: String,
    method: String,
    protocol: Protocol,
    status: u16,
    error: String,
    failed: bool,
    scenario: String,
    group: String,
    example: Option<String>,
}

impl RequestEntry {
    /// The texts that a script or a target may have made.
    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let RequestEntry { name, error, scenario, group, example, .. } = self;
        [name, error, scenario, group].into_iter().chain(example)
    }
}

impl From<&RequestKind> for RequestEntry {
    fn from(kind: &RequestKind) -> RequestEntry {
        RequestEntry {
            name: kind.name.to_string(),
            method: kind.method.to_string(),
            protocol: kind.protocol,
            status: kind.status,
            error: kind.error.to_string(),
            failed: kind.failed,
            scenario: kind.scenario.to_string(),
            group: kind.group.to_string(),
            example: kind.example.as_deref().map(str::to_owned),
        }
    }
}

impl From<RequestEntry> for RequestKind {
    fn from(entry: RequestEntry) -> RequestKind {
        RequestKind {
            name: entry.name.into(),
            method: entry.method.into(),
            protocol: entry.protocol,
            status: entry.status,
            error: entry.error.into(),
            failed: entry.failed,
            scenario: entry.scenario.into(),
            group: entry.group.into(),
            example: entry.example.map(Into::into),
        }
    }
}
