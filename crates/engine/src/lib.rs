//! When the next iteration starts and when the test ends: scenarios, executors, virtual users, workers.
//!
//! No network and no JavaScript: the engine drives anything that implements `VirtualUser` and reads time through a
//! `Clock`, so that a ramp of an hour is a test of a millisecond.

pub mod clock;
pub mod run;
pub mod scenario;
pub mod stop;
pub mod vu;

pub use stop::{Interrupt, StopReason};
pub use vu::{Iteration, IterationEnd, Seat, Users, VirtualUser};
