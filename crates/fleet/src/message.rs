//! What an agent and its coordinator say to each other, and how it is written: postcard's format.

use data_encoding::HEXLOWER;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Ns;
use crate::token::Secret;

/// Of the messages below. Another number is refused by name; so is another version of the program, because both sides
/// must read a script alike.
pub const PROTOCOL: u32 = 3;

/// Which run a message belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A packed test, named by what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// SHA-256.
    pub hash: [u8; 32],
    /// Bytes.
    pub size: u64,
}

impl fmt::Display for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.hash[..8]))
    }
}

/// How an agent begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// `PROTOCOL`.
    pub protocol: u32,
    /// Of the program.
    pub version: String,
    /// What entitles it to join.
    pub secret: Secret,
    /// What it is called where it is named: host and process.
    pub name: String,
    /// Which part it wants to run; none: any that is free.
    pub index: Option<u32>,
    /// This life of the agent. One that was started again is another.
    pub incarnation: u64,
    /// Where it has a seat already, when a connection broke.
    pub seat: Option<(RunId, u32)>,
}

/// A virtual user that has come to a meeting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// Which meeting.
    pub meeting: String,
    /// The user's number in the whole test.
    pub user: u64,
    /// How many are to come.
    pub users: u64,
    /// How long the first one waits for the others.
    pub timeout: Ns,
    /// From when all have come to the beginning.
    pub lead: Ns,
}

/// What an agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// First of all.
    Hello(Hello),
    /// The answer to a ping, dated by the agent's clock.
    Pong {
        /// The ping's.
        number: u32,
        /// When it came.
        received: Ns,
        /// When this left.
        sent: Ns,
    },
    /// It has the archive up to here and wants to go on.
    Wants {
        /// Byte of the archive.
        offset: u64,
    },
    /// The archive is whole, the script is loaded, the virtual users are made.
    Prepared {
        /// How many.
        users: u64,
    },
    /// It cannot take part.
    Refused {
        /// What stands in the way.
        why: String,
        /// The exit code that says so.
        code: u8,
    },
    /// It has what `setup()` returned, and waits for the start.
    HasSetup,
    /// It has begun.
    Started {
        /// So long after the agreed instant, by its own clock.
        late: Ns,
    },
    /// A closed second, from 1 on without gaps.
    Frame {
        /// Which.
        number: u64,
        /// What was measured.
        #[serde(with = "serde_bytes")]
        content: Vec<u8>,
    },
    /// A virtual user has come to a meeting, which begins for all at one instant.
    Arrives(Arrival),
    /// It follows a change of the load.
    Changed {
        /// Which change, from 1 on.
        number: u64,
        /// It heard of it so long after the moment from which it holds.
        late: Ns,
    },
    /// Something for the log.
    Said {
        /// As the program numbers levels.
        level: u8,
        /// The line.
        text: String,
    },
    /// Its part is over.
    Ended {
        /// So many frames there are.
        frames: u64,
        /// How it fared.
        #[serde(with = "serde_bytes")]
        outcome: Vec<u8>,
    },
}

/// What a coordinator says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// The agent has a seat.
    Welcome {
        /// In this run.
        run: RunId,
        /// Which part is its own.
        index: u32,
        /// How many there are.
        of: u32,
        /// What it will run.
        archive: Archive,
        /// How it will run it.
        #[serde(with = "serde_bytes")]
        settings: Vec<u8>,
        /// The first frame that the coordinator does not have.
        from: u64,
    },
    /// The agent cannot take part, for good.
    Refuse {
        /// Why.
        why: String,
    },
    /// A piece of the archive.
    Piece {
        /// Where it begins.
        offset: u64,
        /// Its bytes.
        #[serde(with = "serde_bytes")]
        content: Vec<u8>,
    },
    /// To be answered at once.
    Ping {
        /// Which.
        number: u32,
    },
    /// What `setup()` returned, as JSON.
    Setup {
        /// None: there was nothing.
        data: Option<String>,
    },
    /// The scenarios begin.
    Start {
        /// Then, by the agent's own clock.
        at: Ns,
        /// The clocks may be so far from what is believed.
        bound: Ns,
    },
    /// What time it is: stamps in messages between users of several agents are by the coordinator's clock.
    Clock {
        /// At this moment of the agent's own clock
        at: Ns,
        /// it is so many nanoseconds after 1970.
        wall: Ns,
    },
    /// A meeting begins.
    Meet {
        /// Which.
        meeting: String,
        /// Then, by the agent's own clock.
        at: Ns,
        /// So many have come.
        came: u64,
        /// So many have not.
        missing: u64,
    },
    /// The load changes.
    Change {
        /// Which change, from 1 on.
        number: u64,
        /// From when on, and to what, as the program writes it.
        #[serde(with = "serde_bytes")]
        content: Vec<u8>,
    },
    /// The test ends early.
    Stop {
        /// Why, as the program writes it.
        #[serde(with = "serde_bytes")]
        cause: Vec<u8>,
    },
    /// All frames up to this one are safe.
    Taken {
        /// Its number.
        through: u64,
    },
    /// Nothing more is wanted of the agent.
    Dismissed,
}

/// As bytes.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(message).unwrap_or_else(|error| unreachable!("bug: plain data: {error}"))
}

/// From bytes; the error says that they are none of these messages.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    let (message, rest) = postcard::take_from_bytes(bytes).map_err(|error| format!("a message that {error}"))?;
    if rest.is_empty() { Ok(message) } else { Err(format!("a message with {} bytes behind its end", rest.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_damaged_ones_are_refused() {
        let report = Report::Frame { number: 7, content: vec![1, 2, 3] };
        let bytes = encode(&report);
        assert_eq!(decode::<Report>(&bytes), Ok(report));
        assert!(decode::<Report>(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode::<Report>(&[bytes, vec![0]].concat()).unwrap_err().ends_with("1 bytes behind its end"));
        assert!(decode::<Order>(&[200]).is_err());
    }

    #[test]
    fn an_archive_is_called_by_the_beginning_of_its_hash() {
        let archive = Archive { hash: [0xab; 32], size: 1 };
        assert_eq!(archive.to_string(), "abababababababab");
        assert_eq!(RunId(255).to_string(), "00000000000000ff");
    }
}
