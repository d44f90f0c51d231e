//! What an agent and its coordinator say that only they understand: settings and seconds. How a part ended is in
//! `run/saved/part.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::commands::run::saved::part::PartCounts;

/// How agents run an archive, beside the options that are in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `--no-thresholds`.
    pub no_thresholds: bool,
    /// Whether metrics are kept by scenario and group.
    pub breakdown: bool,
    /// Whether a report wants more of them.
    pub details: bool,
    /// `--features`.
    pub features: Vec<String>,
    /// The certificate of a target beside the test.
    pub trusted_pem: Option<String>,
    /// `--accept-late`.
    pub accept_late: bool,
    /// `--save-messages`.
    pub saves_messages: bool,
    /// `--out`.
    pub outputs: Vec<String>,
    /// The variables of outputs, as the coordinator has them.
    pub output_env: BTreeMap<String, String>,
}

/// A second of a part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Second {
    /// Users and iterations at its end.
    pub live: PartCounts,
    /// The interval as the journal has it; empty where the part stood still and nothing was measured.
    #[serde(with = "serde_bytes")]
    pub interval: Vec<u8>,
}

/// A frame of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Brought {
    /// A second of its part.
    Second(Second),
    /// Behind the last second: a piece of a file of messages, in order.
    Messages(MessagePiece),
}

/// A piece of a file that `--save-messages` has made at an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagePiece {
    /// Which of its files.
    pub file: u32,
    /// The next bytes of it.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

impl MessagePiece {
    /// Of a frame's content; none where it is a second, or nothing that is known.
    pub fn of(content: &[u8]) -> Option<MessagePiece> {
        // Seconds need not be read for that.
        match content.first()? {
            0 => None,
            _ => match fleet::message::decode(content) {
                Ok(Brought::Messages(piece)) => Some(piece),
                _ => None,
            },
        }
    }
}
