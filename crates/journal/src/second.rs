//! What an agent sends of its part, and how: postcard's format, as all messages between agents and coordinator.
//!
//! The samples of a second are encoded once, for the agent's journal. What is sent carries these bytes as they are,
//! with what the journal has no use for.

use serde::{Deserialize, Serialize};

use crate::part::PartCounts;

/// A second of a part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AgentSecond {
    /// Users and iterations at its end.
    pub live: PartCounts,
    /// The interval as the journal has it; empty where the part stood still and nothing was measured.
    #[serde(with = "serde_bytes")]
    pub interval: Vec<u8>,
}

/// A frame of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AgentFrame {
    /// A second of its part.
    Second(AgentSecond),
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

impl AgentFrame {
    /// As it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
}

impl MessagePiece {
    /// Of a frame's content; none where it is a second, or nothing that is known.
    pub fn of(content: &[u8]) -> Option<MessagePiece> {
        // Seconds need not be read for that.
        match content.first()? {
            0 => None,
            _ => match decode(content) {
                Ok(AgentFrame::Messages(piece)) => Some(piece),
                _ => None,
            },
        }
    }
}

/// The bytes of a value that is sent.
pub(crate) fn encode<T: Serialize>(sent: &T) -> Vec<u8> {
    postcard::to_allocvec(sent).expect("plain data")
}

/// The value of such bytes; the error says what else they are.
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    let (sent, rest) = postcard::take_from_bytes(bytes).map_err(|error| format!("a message that {error}"))?;
    if rest.is_empty() { Ok(sent) } else { Err(format!("a message with {} bytes behind its end", rest.len())) }
}
