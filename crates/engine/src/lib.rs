//! When the next iteration starts and when the test ends: scenarios, executors, virtual users, workers.
//!
//! No network and no JavaScript: the engine drives anything that implements [`VirtualUser`] and reads time through a
//! [`clock::Clock`], so that a ramp of an hour is a test of a millisecond.
//!
//! # The way of a test through this crate
//!
//! ```text
//!  options ── scenario ──► Scenarios      checked, every default filled in (shortcuts become a scenario)
//!                │
//!  segment ──► plan ─────► Plan           cut to this instance, divided over the workers, users counted and numbered
//!                │
//!            run::run ───► Outcome        starts the workers, collects what they report, tells the caller by `Event`
//!                │
//!     ┌─ worker (one thread each) ──────────────────────────────────────────────────────────┐
//!     │  pool    the virtual users that no scenario uses now                                │
//!     │  lane    one scenario on this worker; its users all run the one loop:               │
//!     │              pacer says Start → iterate → record → ask the pacer again              │
//!     │  run_queue  the users of a lane as a table; resumes those who can go on             │
//!     │  deadlines  sets the `Interrupt` of users whose grace is over                       │
//!     │  watch   a second's snapshot of the samples, the lag of the event loop, CPU         │
//!     └─────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! An executor is a pacer and a stop rule. The pacers ([`pacer`]) are pure functions of elapsed time; the loop that
//! asks them exists once. Between iterations nothing is shared: each worker owns its users, its recorder and its cache
//! lines of
//! [`state::RunState`].
//!
//! # Words
//!
//! *Planned* users are made before the start, *unplanned* ones by arrival rates that find no user free. A start that
//! finds no user free is *dropped*. *Lag* is the time from planned to real start. A *lane* is a worker's part of a
//! scenario.
//!
//! A client may change users and rates while they run (`load_change`): what it asks for goes into `RunState`, whose
//! changed plan each lane follows.
//!
//! Left out for now: pausing a test that has begun.

mod beats;
pub mod clock;
mod collector;
pub mod config;
mod deadlines;
pub mod event;
pub mod health;
pub mod judgement;
mod lately;
pub mod load_change;
pub mod pacer;
pub mod plan;
pub mod rate_limit;
mod record;
mod report;
pub mod run;
pub mod scenario;
pub mod segment;
mod spread;
pub mod state;
pub mod stop;
pub mod vu;
mod workers;

pub use config::{Prepare, RunConfig};
pub use event::{Event, Outcome, RunError, Tick};
pub use health::Health;
pub use judgement::{Cause, Facts, Finding, Judgement, Severity, Verdict, doubts_lately, judge};
pub use load_change::{ChangedBy, LoadChange, LoadWish, Quantity};
pub use plan::Plan;
pub use run::run;
pub use state::RunState;
pub use stop::{Interrupt, StopCause, StopReason, Stopper};
pub use vu::{CreateError, Iteration, IterationEnd, Progress, RareEnd, Users, VirtualUser, VuContext};
