//! Threads for the state machines: each has a runtime, a clock and an end of a backing, and speaks with its program by
//! channels.

mod of_agent;
mod of_coordinator;

pub use of_agent::{AgentThread, Local};
pub use of_coordinator::{Command, CoordinatorThread, Keep};
