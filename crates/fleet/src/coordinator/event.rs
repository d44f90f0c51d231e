//! What has happened in a fleet, as the coordinator tells its caller.
//!
//! Events come in the order in which they happened, and each once: what an agent says again is none. Times are by the
//! coordinator's clock unless said.

use crate::Ns;

/// What the caller learns.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An agent has taken its seat.
    Joined {
        /// Which.
        index: u32,
        /// What it is called.
        name: String,
    },
    /// Somebody was turned away.
    TurnedAway {
        /// Who.
        name: String,
        /// Why.
        why: String,
    },
    /// An agent has made its users.
    Prepared {
        /// So many users all agents have by now.
        users: u64,
        /// So many agents have theirs.
        agents: u32,
    },
    /// All agents have: the place to run `setup()` and to call `hand_out`.
    AllPrepared,
    /// An agent cannot take part, and so the test cannot either.
    Unable {
        /// Which.
        index: u32,
        /// What it is called.
        name: String,
        /// Why.
        why: String,
        /// The exit code that says so.
        code: u8,
    },
    /// The scenarios start.
    Starting {
        /// Then, by our clock.
        at: Ns,
        /// No agent's clock is believed to be further off.
        bound: Ns,
        /// What `setup()` had returned, for whoever goes on with the run if this coordinator is killed.
        data: Option<String>,
    },
    /// Stamps of two agents may be so far apart for the same instant: from here on, or more than was said before.
    Apart(Ns),
    /// An agent has begun.
    Started {
        /// Which.
        index: u32,
        /// So long after the instant, by its own clock.
        late: Ns,
    },
    /// A change of the load goes to all agents: to be written down by a caller whose test is to outlive it.
    Ordered {
        /// Which, from 1 on.
        number: u64,
        /// As the program wrote it.
        content: Vec<u8>,
    },
    /// An agent follows a change of the load.
    Changed {
        /// Which agent it is.
        index: u32,
        /// Which change, from 1 on.
        number: u64,
        /// It heard of it so long after the moment from which it holds.
        late: Ns,
    },
    /// The next frame of an agent.
    Frame {
        /// Whose.
        index: u32,
        /// Which.
        number: u64,
        /// What was measured.
        content: Vec<u8>,
    },
    /// Every agent that is not lost has brought this one.
    Closed {
        /// Its number.
        number: u64,
    },
    /// A line for the log.
    Said {
        /// Who says it.
        index: u32,
        /// As the program numbers levels.
        level: u8,
        /// The line.
        text: String,
    },
    /// An agent's connection is gone, or it has missed two seconds.
    Missed {
        /// Which.
        index: u32,
        /// What it is called.
        name: String,
        /// What is known.
        what: String,
    },
    /// An agent has missed three seconds, or did not come in time.
    Lost {
        /// Which.
        index: u32,
        /// What it is called.
        name: String,
        /// What is known.
        what: String,
    },
    /// It is there again.
    Back {
        /// Which.
        index: u32,
        /// What it is called.
        name: String,
        /// How long nothing was heard of it.
        after: Ns,
    },
    /// What carries the messages does not answer.
    Unreachable {
        /// What is known.
        why: String,
    },
    /// It does again.
    Reachable {
        /// How long it did not.
        after: Ns,
    },
    /// An agent's part is over, and all its frames are here.
    Ended {
        /// Which.
        index: u32,
        /// How it fared.
        outcome: Vec<u8>,
    },
    /// Nothing more can come.
    Over,
}
