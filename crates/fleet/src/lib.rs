//! One test on many machines: a coordinator, its agents, and what they tell each other.
//!
//! An agent runs its part of the plan by itself: which iterations are its own follows from its index, so nobody hands
//! out work while the test runs. The coordinator seats agents, sights their clocks, gives all of them one instant to
//! start at, and takes in what each of them measured, second by second. What a second holds is not this crate's matter:
//! it carries bytes.
//!
//! `coordinator` and `agent` are state machines without sockets or clocks, so that a simulator can put them through
//! losses, restarts and partitions by the thousand (`simulation`). `embedded` carries their messages over TCP and TLS,
//! `objects` through a store, `nats` through a broker; `drive` gives either of them a thread, a clock and a backing.

pub mod agent;
pub mod backing;
#[cfg(any(feature = "nats", feature = "objects"))]
mod cause;
pub mod clock;
pub mod coordinator;
pub mod drive;
pub mod embedded;
mod lines;
pub mod message;
pub mod nats;
pub mod objects;
mod sealed;
pub mod sight;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod token;

pub use agent::{Agent, AgentEvent, Frames, Identity};
pub use coordinator::{Coordinator, Event, Setup};
pub use embedded::Credentials;
pub use message::{Archive, Order, Report, RunId};
pub use token::{Invitation, Token};

/// Nanoseconds of a clock that never jumps; each machine has its own.
pub type Ns = u64;

/// How often an agent closes a frame.
pub const SECOND: Ns = 1_000_000_000;
