//! Processes that a command starts and ends again, with all that these have started: `matrix`, `capacity`,
//! `compare --run`, and `run` with several scripts.
//!
//! `process` starts and ends a group of processes, `guard` ends them when the command itself can no longer do so,
//! `interruption` is the signal that asks for an end, `onrush_run` is a run as such a process.

pub mod guard;
pub mod interruption;
pub mod onrush_run;
pub mod process;
