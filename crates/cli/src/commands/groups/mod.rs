//! Processes that a command starts and ends again, with all that these have started: `matrix` and `capacity`.
//!
//! `process` starts and ends a group of processes, `guard` ends them when the command itself can no longer do so,
//! `interruption` is the signal that asks for an end.

pub mod guard;
pub mod interruption;
pub mod process;
