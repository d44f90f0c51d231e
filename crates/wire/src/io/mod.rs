//! Where the network begins: event loops, sockets and what tells that they are ready, the clock of arrivals, timers,
//! and the position in what is being sent.
//!
//! Linux alone: receive stamps (SO_TIMESTAMPNS), `sendfile`, `timerfd` and abstract unix sockets are used without a
//! substitute.

pub(crate) mod alarm;
pub(crate) mod arrival;
pub(crate) mod buffers;
pub(crate) mod deadline_timer;
mod departure;
pub(crate) mod event_loop;
pub(crate) mod listener;
pub(crate) mod reactor;
mod readiness;
pub(crate) mod receive;
#[cfg(feature = "simulated")]
pub mod simulated;
pub(crate) mod socket;
pub(crate) mod stamps;
pub mod timer;
pub(crate) mod upload;
