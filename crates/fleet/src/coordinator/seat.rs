//! What the coordinator knows of one agent.

use super::frames::FrameQueue;
use super::outbox::Link;
use crate::Ns;
use crate::sight::Sights;

/// How far an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It fetches the archive and makes its users.
    Preparing,
    /// It has made them.
    Prepared,
    /// It has what `setup()` returned.
    HasSetup,
    /// It has begun.
    Started,
    /// Its part is over and all of it is here, or it cannot take part.
    Ended,
}

/// Pings that are out or to come.
#[derive(Clone, Debug, Default)]
pub struct Pinging {
    /// The last one's number.
    pub number: u32,
    /// When it left; none when it was answered.
    pub sent: Option<Ns>,
    /// How long it is waited for; none: as ever. Twice as long after each that was not answered: the way is slow.
    pub patience: Option<Ns>,
    /// So many are still to be sent in this round.
    pub left: u32,
    /// When the last round ended.
    pub ended: Ns,
}

/// One agent.
pub struct Seat {
    /// Its connection, while there is one.
    pub link: Option<Link>,
    /// Which life of it.
    pub incarnation: u64,
    /// What it is called.
    pub name: String,
    /// How far it is.
    pub stage: Stage,
    /// Virtual users it has made.
    pub users: u64,
    /// What is known of its clock.
    pub sights: Sights,
    /// How its clock is being sighted.
    pub pinging: Pinging,
    /// The last change of the load that it follows.
    pub changes: u64,
    /// What it brings.
    pub frames: FrameQueue,
    /// When the last frame came.
    pub heard: Ns,
    /// When anything came by its connection.
    pub spoke: Ns,
    /// Since when it has no connection.
    pub gone_since: Option<Ns>,
    /// Whether it has missed two seconds.
    pub is_suspect: bool,
    /// Whether it has missed three.
    pub is_lost: bool,
    /// All of its part is here, and it waits to be let go.
    pub is_owed: bool,
}

impl Seat {
    /// Of an agent that has just come.
    pub fn new(link: Link, incarnation: u64, name: String) -> Seat {
        Seat {
            link: Some(link),
            incarnation,
            name,
            stage: Stage::Preparing,
            users: 0,
            sights: Sights::default(),
            pinging: Pinging::default(),
            changes: 0,
            frames: FrameQueue::new(),
            heard: 0,
            spoke: 0,
            gone_since: None,
            is_suspect: false,
            is_lost: false,
            is_owed: false,
        }
    }
}
